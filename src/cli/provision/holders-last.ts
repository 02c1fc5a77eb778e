/** Which hosts are changed after all others: the scheduler that leads, and whoever holds the virtual address. */
import type { PlacedHost } from "../../provision/apply/waves.ts";
import type { InventoryHost } from "../../spec/inventory-definition.ts";
import type { Definitions } from "./definitions.ts";

const deadlineMs = 10_000;

/** Schedulers are asked; one that does not answer is taken for one that leads. */
export async function holdersLast(
  hosts: readonly InventoryHost[],
  definitions: Pick<Definitions, "reach" | "schedulerOf">,
): Promise<readonly PlacedHost[]> {
  return Promise.all(
    hosts.map(async (host) => {
      const { name, failureDomain } = host;
      if (!definitions.schedulerOf(host)) return { name, failureDomain };
      return { name, failureDomain, apart: "scheduler", last: await isHolder(host, definitions) };
    }),
  );
}

async function isHolder(
  host: InventoryHost,
  { reach, schedulerOf }: Pick<Definitions, "reach" | "schedulerOf">,
): Promise<boolean> {
  const { askScheduler } = await import("../../provision/apply/active-scheduler.ts");
  const scheduler = schedulerOf(host)!;
  const virtualIp = String(host.settings.virtualIp ?? "").split("/", 1)[0]!;
  try {
    const remote = await reach.connect(host.target);
    try {
      const leads = await remote.exec({ argv: askScheduler(scheduler.address, scheduler.port), deadlineMs });
      if (leads.exitCode !== 1) return true;
      if (virtualIp === "") return false;
      const holds = await remote.exec({ argv: ["ip", "-o", "addr", "show", "to", virtualIp], deadlineMs });
      return holds.stdout.trim() !== "";
    } finally {
      await remote.close();
    }
  } catch {
    return true;
  }
}
