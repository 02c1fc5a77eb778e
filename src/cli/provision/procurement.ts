/** `escapement verify --procurement`: whether delivered hosts have what was ordered for their roles. */
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { AcceptanceResult } from "../../capacity/acceptance/accept-machine.ts";
import type { HostResult } from "../../remote/fleet.ts";
import type { InventoryHost } from "../../spec/inventory-definition.ts";
import { resultColours } from "../capacity/accept.ts";
import { connectionFor, type ReachOptions } from "../hosts/reach-options.ts";
import { chooseHosts, type InventoryOptions, requireInventory } from "../inventory-file.ts";
import { paint, print, printJson, say, table } from "../terminal.ts";

export interface ProcurementOptions extends InventoryOptions, ReachOptions {
  /** The sheet as JSON. */
  readonly procurement?: string;
  /** In place of each host's profile. */
  readonly role?: string;
  readonly folder?: string;
  readonly measure?: boolean;
  readonly json?: boolean;
}

interface Tested {
  readonly role: string;
  readonly results: readonly AcceptanceResult[];
}

/** A record store works there; everybody else has scratch space only. */
const folderOf = (role: string) => (role === "record-store" ? "/var/lib/postgresql" : "/var/tmp");

/** Sets the exit code: a fail goes before what is unknown, a host that does not answer is unknown. */
export async function verifyProcurement(
  names: readonly string[],
  options: ProcurementOptions,
): Promise<void> {
  const { readSheetFile, requirementsOfRole } = await import("../capacity/acceptance/sheet-file.ts");
  const pages = await readSheetFile(options.procurement!);
  const inventory = await requireInventory(options);
  const hosts = chooseHosts(inventory, names, { withoutProfile: options.role !== undefined });
  // A wrong role is found before the first host is asked.
  const asked = new Map(
    hosts.map((host) => {
      const role = roleOf(host, options);
      return [host.name, { role, requirements: requirementsOfRole(pages, role) }];
    }),
  );
  const { runFleet } = await import("../../remote/fleet.ts");
  const { gatherFacts } = await import("../facts/gather-facts.ts");
  const { acceptMachine, needsMeasuredDisk } = await import("../../capacity/acceptance/accept-machine.ts");
  const { readDiskOver } = await import("./disk-over-remote.ts");
  const fleet = await runFleet<Tested>({
    targets: hosts.map(({ target }) => target),
    ...(await connectionFor(options)),
    work: async (remote) => {
      const { role, requirements } = asked.get(remote.host)!;
      const facts = await gatherFacts(remote, true);
      // After the facts: what else runs slows the disk down.
      const measure = options.measure === true && needsMeasuredDisk(requirements);
      const disk = await readDiskOver(remote, options.folder ?? folderOf(role), measure);
      return { role, results: acceptMachine(requirements, facts, disk) };
    },
  });
  process.exitCode = exitCodeOf(fleet);
  if (options.json) return printJson({ hosts: fleet.map(documentOf) });
  for (const result of fleet) printHost(result);
}

function roleOf(host: InventoryHost, { role }: ProcurementOptions): string {
  const found = role ?? host.profile;
  if (found !== undefined) return found;
  throw new EscapementError("E_USAGE", { what: `${host.name} has no profile; say --role` });
}

function exitCodeOf(fleet: readonly HostResult<Tested>[]): ExitCode {
  const statuses = fleet.flatMap((one) =>
    one.status === "ok" ? one.value.results.map(({ status }) => status) : ["unknown" as const],
  );
  if (statuses.includes("fail")) return ExitCode.failed;
  return statuses.includes("unknown") ? ExitCode.unknown : ExitCode.ok;
}

function countsOf(results: readonly AcceptanceResult[]) {
  const count = (status: AcceptanceResult["status"]) => results.filter((one) => one.status === status).length;
  return { pass: count("pass"), fail: count("fail"), unknown: count("unknown") };
}

function documentOf(result: HostResult<Tested>): Record<string, unknown> {
  const durationMs = Math.round(result.durationMs);
  if (result.status !== "ok") return { ...result, durationMs };
  const { role, results } = result.value;
  return { host: result.host, status: "ok", durationMs, role, counts: countsOf(results), results };
}

function printHost(result: HostResult<Tested>): void {
  if (result.status !== "ok") {
    print(`${paint.bold(result.host)}  ${paint.red(result.status)}: ${result.message}`);
    say(`${result.host}: ${result.hint}`);
    return;
  }
  const { role, results } = result.value;
  const { pass, fail, unknown } = countsOf(results);
  print(`${paint.bold(result.host)}  ${role}: ${pass} passed, ${fail} failed, ${unknown} unknown`);
  print(
    table(
      ["result", "requirement", "seen"],
      results.map((one) => [resultColours[one.status](one.status), one.requirement, one.observed]),
    ),
  );
}
