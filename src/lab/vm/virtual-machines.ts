/** What a lab with virtual machines needs before the first of them starts. */
import { EscapementError } from "../../base/errors.ts";
import type { LabState } from "../hosts/lab-state.ts";
import type { PackageRepository } from "../hosts/package-repository.ts";
import type { PackageSource } from "../hosts/root-image.ts";
import { accelerator, whyNoMachines } from "./accelerator.ts";
import { goldenGuest } from "./golden-guest.ts";
import { vmImage } from "./vm-image.ts";

/**
 * The disk, the accelerator and the kept state, made when they are not there.
 * @param prepared with the packages of the shipped profiles on the disk
 * @throws E_LAB_TIER where there can be no virtual machine; E_LAB_STEP
 */
export async function virtualMachines(
  source: PackageSource,
  root: string,
  packages: PackageRepository,
  say: (line: string) => void,
  prepared = false,
): Promise<NonNullable<LabState["virtual"]>> {
  const reason = whyNoMachines();
  if (reason !== undefined)
    throw new EscapementError("E_LAB_TIER", {
      tier: "vm",
      reason,
      hint: "npm run setup -- --for test installs what is missing, as root on Debian",
    });
  say("disk of virtual machines");
  const image = await vmImage(source, root, packages, prepared);
  say("trying whether KVM works");
  const by = await accelerator(image);
  say(`virtual machine to start from (${by === "kvm" ? "KVM" : "emulated"}; minutes the first time)`);
  const golden = await goldenGuest(image, by);
  return { accelerator: by, golden, image };
}
