/** Plan and apply of single hosts, for playbooks. */
import { EscapementError } from "../../base/errors.ts";
import type { ProfileService } from "../../provision/playbook/host-world.ts";
import type { InventoryDefinition } from "../../spec/inventory-definition.ts";

export async function profileService(
  _inventory: InventoryDefinition,
  _profilePaths: readonly string[],
): Promise<ProfileService> {
  const missing = async (): Promise<never> => {
    throw new EscapementError("E_UNAVAILABLE", { what: "plan and apply are not in this build", hint: "" });
  };
  return { plan: missing, apply: missing };
}
