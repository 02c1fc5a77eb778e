/** `escapement drill status`: the drill that is on, and whether drills may begin. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { sleep } from "../../base/monotonic.ts";
import type { Database } from "../../store/database.ts";
import { endWithReader } from "../closed-pipe.ts";
import { defineCommand } from "../command.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson } from "../terminal.ts";
import { runLines } from "./timeline.ts";

type StatusOptions = StoreOptions & { readonly watch?: boolean; readonly json?: boolean };

const lookEveryMs = 1_000;

export function buildStatus(): Command {
  const command = defineCommand("status", "the drill that is on, and whether drills may begin", {
    examples: [
      "escapement drill status --cluster cluster.yaml",
      "escapement drill status --watch --cluster cluster.yaml",
      "escapement drill status --json --cluster cluster.yaml",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes:
      "With --watch until no drill is on any more, a line for every change. --watch has no JSON: ask --json again instead.",
  })
    .option("--watch", "look again every second until the drill has ended")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: StatusOptions) => {
    if (options.watch && options.json)
      throw new EscapementError("E_USAGE", {
        what: "--watch and --json do not go together: ask --json again",
      });
    await withStore(options, async (db) => {
      if (options.watch) {
        endWithReader();
        return watch(db);
      }
      const seen = await look(db);
      if (options.json) printJson({ ...seen });
      else for (const line of linesOf(seen)) print(line);
    });
  });
}

type Seen = Awaited<ReturnType<typeof look>>;

async function look(db: Database) {
  const { countProbes } = await import("../../chaos/drill/probe-load.ts");
  const { currentDrillRun, listDrillRuns } = await import("../../store/drill/drill-run.ts");
  const { activeDrillHalt } = await import("../../store/drill/drill-halt.ts");
  const { silentForMs } = await import("../../store/drill/run-silence.ts");
  const { readStoreTime } = await import("../../store/store-time.ts");
  const run = await currentDrillRun(db);
  const [last] = run ? [] : await listDrillRuns(db, { limit: 1 });
  const probes = await countProbes(db);
  const now = await readStoreTime(db);
  const silentMs = run && silentForMs(run, now);
  return { now, halt: await activeDrillHalt(db), run, silentMs, last: last ?? null, probes };
}

function linesOf({ now, halt, run, last, probes }: Seen): string[] {
  return [
    ...(halt ? [paint.red(`halted since ${formatInstant(halt.at)} by ${halt.person}: ${halt.reason}`)] : []),
    ...(run ? runLines(run, now) : ["no drill is on"]),
    ...(run?.abandoned && probes > 0 ? [paint.red(`${probes} probe job(s) of it are still there`)] : []),
    ...(last ? [`last: ${runLines(last, now).join("")}`] : []),
  ];
}

/** A terminal shows one picture that changes; anything else gets a line for each state. */
async function watch(db: Database): Promise<void> {
  const isScreen = process.stdout.isTTY === true;
  let drawn = 0;
  let before: string | undefined;
  for (;;) {
    const seen = await look(db);
    const lines = linesOf(seen);
    if (isScreen) {
      if (drawn > 0) process.stdout.write(`\x1b[${drawn}A\x1b[0J`);
      for (const line of lines) print(line);
      drawn = lines.length;
    } else {
      const silence = seen.run?.abandoned ? "abandoned" : seen.silentMs === null ? "heard" : "silent";
      const key = `${seen.run?.runId} ${seen.run?.state} ${silence} ${seen.halt?.haltId}`;
      if (key !== before) print(lines.join("  "));
      before = key;
    }
    if (!seen.run) return;
    await sleep(lookEveryMs);
  }
}
