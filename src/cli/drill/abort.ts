/** `escapement drill abort`: the drill that is on restores and ends; drills may begin again afterwards. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { withInventoryOption } from "../inventory-file.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "../person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson } from "../terminal.ts";
import { awaitEnd } from "./await-end.ts";
import { type ClusterOptions, drilledHosts } from "./cluster-hosts.ts";
import { type KeyOptions, openDoors, withKeyOption } from "./doors.ts";
import { type HaltedHost, haltHosts } from "./halt-hosts.ts";

type AbortOptions = ClusterOptions &
  StoreOptions &
  KeyOptions &
  DeedOptions & { readonly wait: boolean; readonly json?: boolean };

/** Longer than the lease of a controller (30 s): one that is dead is known to be by then. */
const waitMs = 60_000;

export function buildAbort(): Command {
  const command = defineCommand("abort", "end the drill that is on: its host restores at once", {
    examples: ["escapement drill abort --reason 'wrong host' -i inventory.yaml --cluster cluster.yaml"],
    exitCodes: [ExitCode.ok, ExitCode.partial, ExitCode.badData, ExitCode.unavailable],
    notes:
      "Asks the controller of the run and the host itself, then waits until the run has ended, for up to a minute.\nWhere the controller is gone it ends the run in its place, as soon as its lease is over: hosts audited, probes\nremoved, others may begin. The verdict becomes unknown, or fail where something was left. Exit 3: some host could\nnot be told, or the run has not ended. Without a drill it changes nothing. With the store down: drill halt.",
  })
    .option("--no-wait", "ask, and do not wait for the end")
    .option("--profiles <path...>", "profiles of the site, in place of those of equal names")
    .option("--json", "print one JSON document");
  return withKeyOption(withDeedOptions(withStoreOptions(withInventoryOption(command)))).action(
    async (options: AbortOptions) => {
      const { requestDrillAbort } = await import("../../store/drill/drill-run.ts");
      const { recordOperation } = await import("../../store/operation.ts");
      const deed = deedOf(options);
      await withStore(options, async (db) => {
        const run = await db.transaction(async (tx) => {
          const asked = await requestDrillAbort(tx, `${deed.person}: ${deed.reason}`);
          if (asked)
            await recordOperation(tx, { ...deed, action: "drill abort", after: { run: asked.runId } });
          return asked;
        });
        if (!run) {
          if (options.json) printJson({ run: null, hosts: [] });
          else print("no drill is on");
          return;
        }
        const hosts = await drilledHosts(options);
        const known = new Set(hosts.hosts.map(({ name }) => name));
        const targets = run.targets.map(({ host }) => host);
        const names = targets.filter((host) => known.has(host));
        const open = (chosen: readonly string[]) => openDoors(chosen, hosts, options);
        const answers = [
          ...(await haltHosts(await open(names))),
          ...targets.filter((host) => !known.has(host)).map(unknownHost),
        ];
        const lines: string[] = [];
        const cleanUp = {
          ...{ db, hosts: hosts.hosts, controller: `abort ${process.pid}`, person: deed.person },
          connectHost: async ({ name }: { name: string }) => (await open([name]))[0]!,
          say: (line: string) => lines.push(line),
        };
        const ended = await awaitEnd(cleanUp, run.runId, options.wait ? waitMs : 0);
        const untold = answers.some(({ error }) => error !== null);
        if (untold || (options.wait && ended === null)) process.exitCode = ExitCode.partial;
        if (options.json) return printJson({ run: run.runId, drill: run.drill, hosts: answers, ended });
        print(`${run.drill} (${run.runId.slice(0, 8)}) was asked to end`);
        for (const { host, halted, tookMs, error } of answers)
          if (error !== null) print(paint.red(`${host}: ${error}; its own limit restores it`));
          else print(`${host}: ${halted ? `restored, answered in ${tookMs} ms` : "no drill was on"}`);
        for (const line of lines) print(line);
        if (ended) print(`ended: ${ended.verdict}: ${ended.reason}`);
        else print(paint.yellow("it has not ended yet: escapement drill status shows it"));
      });
    },
  );
}

/** The drill was begun with another inventory: nobody can be told, and it must not look as if there were nobody. */
function unknownHost(host: string): HaltedHost {
  const error = "it is not in this inventory";
  return { host, halted: null, restoredMs: null, tookMs: 0, error };
}
