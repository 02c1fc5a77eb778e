/** `escapement drain`: an executor gets no new work, and its work in hand is waited for. */
import type { Command } from "commander";
import { formatDuration, parseDuration } from "../base/duration.ts";
import { ExitCode } from "../base/exit-code.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import type { NodeLoad } from "../store/drain.ts";
import { defineCommand } from "./command.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "./person.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { print, printJson } from "./terminal.ts";

interface DrainOptions extends StoreOptions, DeedOptions {
  readonly wait?: string;
  readonly json?: boolean;
}

const lookEveryMs = 500;

export function build(): Command {
  const command = defineCommand("drain", "give an executor no new work, and wait for what it runs", {
    examples: [
      "escapement drain exec-1 --reason 'new disk' --wait 20m",
      "escapement undrain exec-1 --reason 'disk is in'",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unavailable],
    notes:
      "Holds across restarts, until escapement undrain. With --wait: exit 1 when something still runs at the end of it.",
  })
    .argument("<node>", "the executor's name in the cluster file")
    .option("--wait <duration>", "wait this long for the node to hold no running record")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(async (node: string, options: DrainOptions) => {
    const { drainNode, nodeLoads } = await import("../store/drain.ts");
    const waitMs = options.wait === undefined ? 0 : parseDuration(options.wait);
    await withStore(options, async (db) => {
      const fresh = await drainNode(db, node, deedOf(options));
      const untilMs = monotonicMs() + waitMs;
      const look = async (): Promise<NodeLoad> =>
        (await nodeLoads(db)).find((load) => load.node === node) ?? {
          node,
          running: 0,
          leaseEnded: 0,
          processes: 0,
        };
      let load = await look();
      while (load.running > 0 && monotonicMs() < untilMs) {
        await sleep(Math.min(lookEveryMs, untilMs - monotonicMs()));
        load = await look();
      }
      if (options.wait !== undefined && load.running > 0) process.exitCode = ExitCode.failed;
      if (options.json) return printJson({ fresh, ...load });
      print(`${node}: ${fresh ? "drained" : "was drained already"}; ${load.running} shard(s) still running`);
      if (process.exitCode === ExitCode.failed)
        print(`not done after ${formatDuration(waitMs)}; run it again to go on waiting`);
    });
  });
}
