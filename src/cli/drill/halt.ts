/** `escapement drill halt`: every host restores at once, and no drill begins until `resume`. */
import type { Command } from "commander";
import { messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { userName } from "../../base/user-name.ts";
import { defineCommand } from "../command.ts";
import { withInventoryOption } from "../inventory-file.ts";
import { type StoreOptions, storeUrl, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, table } from "../terminal.ts";
import { type ClusterOptions, drilledHosts } from "./cluster-hosts.ts";
import { type KeyOptions, openDoors, withKeyOption } from "./doors.ts";
import { type HaltedHost, haltHosts } from "./halt-hosts.ts";

interface HaltOptions extends ClusterOptions, StoreOptions, KeyOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json?: boolean;
}

/** What of the hosts and the store may be waited for; a host that answers is right long before. */
const connectTimeoutMs = 5_000;

export function buildHalt(): Command {
  const command = defineCommand("halt", "put every host right at once, and let no drill begin", {
    examples: [
      "escapement drill halt -i inventory.yaml --cluster cluster.yaml",
      "escapement drill halt --reason 'real trouble' --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.partial, ExitCode.unavailable],
    notes:
      "Goes to all hosts in parallel and to the record store beside them: it works with the store down. Exit 3\nwhen some host, or the store, could not be told: also where the inventory or the key cannot be read and the store\nwas told all the same; 69 when nobody was. Until escapement drill resume no drill begins.",
  })
    .option("--reason <text>", "why; kept with the records", "halted by hand")
    .option("--by <person>", "who; default: your login, or SUDO_USER")
    .option("--profiles <path...>", "profiles of the site, in place of those of equal names")
    .option("--json", "print one JSON document");
  return withKeyOption(withStoreOptions(withInventoryOption(command))).action(halt);
}

interface StoreAnswer {
  /** False: it was halted before. Null: could not be told. */
  readonly recorded: boolean | null;
  readonly error: string | null;
}

async function halt(options: HaltOptions): Promise<void> {
  const [{ hosts, hostsError }, store] = await Promise.all([tellHosts(options), tellStore(options)]);
  const told = [...hosts, store].filter(({ error }) => error === null).length;
  if (told === 0) process.exitCode = ExitCode.unavailable;
  else if (told <= hosts.length || hostsError !== null) process.exitCode = ExitCode.partial;
  if (options.json) return printJson({ hosts, hostsError, store });
  const rows = hosts.map(({ host, halted, restoredMs, tookMs, error }) => [
    host,
    halted === null ? paint.red("unknown") : halted ? paint.yellow("restored") : "no drill was on",
    `${tookMs} ms`,
    restoredMs === null || !halted ? "-" : `${Math.round(restoredMs)} ms`,
    error ?? "-",
  ]);
  if (hostsError === null) print(table(["host", "state", "answered in", "restored in", "trouble"], rows));
  else print(paint.red(`no host was told, so a drill that is on goes on: ${hostsError}`));
  if (store.error !== null)
    print(paint.red(`the record store was not told, so drills may still begin: ${store.error}`));
  else print(store.recorded ? "no drill begins until escapement drill resume" : "drills were halted before");
}

interface HostsAnswer {
  readonly hosts: readonly HaltedHost[];
  /** Why there was no way to any of them: inventory, profiles or key. */
  readonly hostsError: string | null;
}

/** Never throws: the store is told meanwhile, and what it said must be heard. */
async function tellHosts(options: HaltOptions): Promise<HostsAnswer> {
  // Nothing that is wrong with the cluster file may keep the hosts from being told.
  const { cluster: _, ...rest } = options;
  try {
    const hosts = await drilledHosts(rest);
    const names = hosts.hosts.filter(({ parts }) => parts.length > 0).map(({ name }) => name);
    const doors = await openDoors(names, hosts, { ...options, connectTimeoutMs });
    return { hosts: await haltHosts(doors), hostsError: null };
  } catch (error) {
    return { hosts: [], hostsError: messageOf(error) };
  }
}

async function tellStore(options: HaltOptions): Promise<StoreAnswer> {
  const { Database } = await import("../../store/database.ts");
  const { haltDrills } = await import("../../store/drill/drill-halt.ts");
  let db: InstanceType<typeof Database> | undefined;
  try {
    db = new Database(await storeUrl(options), {
      maxConnections: 1,
      applicationName: "escapement-cli",
      connectTimeoutMs,
      queryTimeoutMs: connectTimeoutMs,
    });
    const person = options.by ?? process.env.SUDO_USER ?? userName();
    return {
      recorded: await haltDrills(db, { person, reason: options.reason.trim() || "halted by hand" }),
      error: null,
    };
  } catch (error) {
    return { recorded: null, error: messageOf(error) };
  } finally {
    await db?.end().catch(() => {});
  }
}
