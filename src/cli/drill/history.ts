/** `escapement drill history`: the runs that the records know, and how fresh each class is. */
import type { Command } from "commander";
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { drillClasses, mandatoryDrillClasses } from "../../spec/drill-definition.ts";
import { defineCommand } from "../command.ts";
import { countOption } from "../parse-option.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, table } from "../terminal.ts";
import { requireRun, showRun } from "./show-run.ts";

interface HistoryOptions extends StoreOptions {
  readonly limit: number;
  readonly class?: string;
  readonly drill?: string;
  readonly json?: boolean;
}

const outcomePaint = {
  pass: paint.green,
  fail: paint.red,
  unknown: paint.yellow,
  refused: paint.yellow,
  "left-out": paint.dim,
} as const;

export function buildHistory(): Command {
  const command = defineCommand("history", "list the runs of drills, newest first", {
    examples: [
      "escapement drill history --cluster cluster.yaml",
      "escapement drill history --class executor-killed --limit 5 --json --cluster cluster.yaml",
      "escapement drill history 3f2a9c10 --cluster cluster.yaml",
    ],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes: "With a run, what the records keep of it; report and history are files beside its controller.",
  })
    .argument("[run]", "a run: its id, or the beginning of it")
    .option("--limit <n>", "how many", countOption(1, 1_000), 20)
    .option("--class <name>", "only runs of this class")
    .option("--drill <name>", "only runs of this drill")
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (wanted: string | undefined, options: HistoryOptions) => {
    const { latestDrills, listDrillRuns } = await import("../../store/drill/drill-run.ts");
    const { readStoreTime } = await import("../../store/store-time.ts");
    await withStore(options, async (db) => {
      if (wanted !== undefined) return showRun(await requireRun(db, wanted), options.json === true);
      const latest = await latestDrills(db);
      if (options.class !== undefined) requireClass(options.class, latest);
      const runs = await listDrillRuns(db, {
        limit: options.limit,
        ...(options.class !== undefined && { class: options.class }),
        ...(options.drill !== undefined && { drill: options.drill }),
      });
      const now = await readStoreTime(db);
      const classes = [...new Set([...mandatoryDrillClasses, ...latest.map((one) => one.class)])].map(
        (name) => {
          const found = latest.find((one) => one.class === name);
          const [lastRunAt, lastPassAt] = [found?.lastRunAt ?? null, found?.lastPassAt ?? null];
          return { class: name, lastRunAt, lastPassAt };
        },
      );
      if (options.json) return printJson({ now, classes, runs });
      const ago = (at: Date | null) =>
        at === null
          ? paint.yellow("never")
          : `${formatDuration(Math.floor((now.getTime() - at.getTime()) / 60_000) * 60_000)} ago`;
      print(
        table(
          ["class", "last run", "last pass"],
          classes.map((one) => [one.class, ago(one.lastRunAt), ago(one.lastPassAt)]),
        ),
      );
      if (runs.length === 0) return print("no run");
      print();
      const rows = runs.map((run) => [
        run.runId.slice(0, 8),
        formatInstant(run.startedAt),
        run.drill,
        run.targets.map(({ host }) => host).join(", ") || "-",
        run.trigger === "schedule" ? "timetable" : run.person,
        run.outcome === null ? run.state : outcomePaint[run.outcome](run.outcome),
        run.reason ?? "-",
      ]);
      print(table(["run", "started", "drill", "host", "by", "verdict", "why"], rows));
    });
  });
}

/** Records may know a class that this version does not. @throws E_BAD_VALUE */
function requireClass(name: string, latest: readonly { readonly class: string }[]): void {
  const known = [...new Set<string>([...drillClasses, ...latest.map((one) => one.class)])];
  if (known.includes(name)) return;
  throw new EscapementError("E_BAD_VALUE", {
    option: "--class",
    value: name,
    expected: "a class of drills",
    hint: `there are: ${known.join(", ")}`,
  });
}
