/** Item 10: how far every clock is off is measured on its own, against the database. */
import { type OffsetRow, readOffsets } from "../../store/checklist/clocks.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { apart, disagreements, nearestOfHosts, clockTodo as todo } from "./clock-spread.ts";
import { measuredFromHere } from "./host-clock.ts";
import { inParts, merged, openStore } from "./parts.ts";
import { clusterScope, hostScope, queryEvidence, result } from "./verdicts.ts";
import { unheard } from "./watch-silences.ts";

/** Where the watch file says nothing. */
const usualLimitMs = 100;

export const clockOffset: ChecklistItem<CheckContext> = {
  number: 10,
  id: "clock-offset",
  question:
    "Is the offset of every clock measured against the database, apart from other metrics, and alerted on?",
  why: "A daemon that says it is synchronised may follow a wrong source. Only a comparison with the clock that decides shows it.",
  how: "The offsets that every scheduler and executor writes with its heartbeat: fresh, within the limit, and those of two hosts within the limit of each other. What processes of one host say of its one clock is compared as measurements: where they differ by more than the limit it is unknown, and the smaller one counts. The watch file's rules on clocks are on. Each host is asked for its time a few times within one command, between two readings of the monotonic clock, and so is the database: the difference is right to within half of both trips, of which the shortest counts. Only what is within the limit with all that it may be wrong by passes, and only what is beyond it by more than that fails.",
  check: async (context) => {
    const cluster = await inParts(context, {
      "the measured offsets": () => samples(context),
      "the rules on clocks": () => rules(context),
      "the hosts": async () => noHosts(context),
    });
    const hosts = await Promise.all(
      context.hosts
        .filter(({ container }) => container === undefined)
        .map((host) => measuredFromHere(context, host, { limitMs: limitOf(context), todo })),
    );
    return merged([...cluster, ...hosts]);
  },
};

function noHosts(context: CheckContext): Result[] {
  if (context.hosts.length > 0) return [];
  const message = "no host was asked for its time: all that is known is what the processes say of themselves";
  return [result(clusterScope(context), "unknown", message, [], { todo: "name the inventory" })];
}

function limitOf(context: CheckContext): number {
  return context.definitions.watch?.definition.thresholds?.clockWarn ?? usualLimitMs;
}

async function samples(context: CheckContext): Promise<Result[]> {
  const looked = await readOffsets(openStore(context));
  const limitMs = limitOf(context);
  const measured = looked.rows.filter((row) => row.offsetMs !== null && isFresh(context, row));
  const perHost = nearestOfHosts(measured);
  const results = looked.rows.map((row) =>
    sampleOf(
      context,
      row,
      { limitMs, nearest: perHost.get(row.host) },
      queryEvidence(context, looked, [row]),
    ),
  );
  const scope = clusterScope(context);
  const evidence = [queryEvidence(context, looked)];
  const missing = (["scheduler", "executor"] as const).filter(
    (part) => !looked.rows.some((row) => row.part === part),
  );
  if (missing.length > 0)
    return [
      ...results,
      result(scope, "unknown", `no ${missing.join(" and no ")} measures its clock`, evidence, {
        todo: "start it",
      }),
    ];
  if (measured.length < 2)
    return [
      ...results,
      result(
        scope,
        "unknown",
        `${measured.length} clock(s) were measured lately: none to compare`,
        evidence,
        {
          todo: "start them",
        },
      ),
    ];
  return [
    ...results,
    ...disagreements(measured, limitMs, evidence),
    apart(perHost, limitMs, scope, evidence),
  ];
}

function isFresh(context: CheckContext, row: OffsetRow): boolean {
  return row.ageMs <= context.maxAgeMs.sample;
}

function sampleOf(
  context: CheckContext,
  row: OffsetRow,
  { limitMs, nearest }: { readonly limitMs: number; readonly nearest: OffsetRow | undefined },
  evidence: Result["evidence"][number],
): Result {
  const scope = hostScope({ name: row.host });
  const who = `${row.part} ${row.node}`;
  if (!isFresh(context, row))
    return result(
      scope,
      "unknown",
      `${who} measured its clock ${Math.round(row.ageMs / 1_000)} s ago`,
      [evidence],
      { todo: "see whether it lives" },
    );
  if (row.offsetMs === null)
    return result(scope, "unknown", `${who} has not measured its clock`, [evidence], { todo: "see its log" });
  const offset = `${row.offsetMs > 0 ? "+" : ""}${row.offsetMs.toFixed(1)} ms`;
  // The same clock, read by another process: what is within the limit shows that this one was held up.
  if (Math.abs(row.offsetMs) > limitMs && nearest && Math.abs(nearest.offsetMs!) <= limitMs)
    return result(
      scope,
      "unknown",
      `${who} says ${offset}, but ${nearest.part} ${nearest.node} on the same host ${nearest.offsetMs!.toFixed(1)} ms`,
      [evidence],
      { todo: "look again" },
    );
  if (Math.abs(row.offsetMs) > limitMs)
    return result(
      scope,
      "fail",
      `${who} is ${offset} off the database's clock, more than ${limitMs}`,
      [evidence],
      { todo },
    );
  return result(scope, "pass", `${who} is ${offset} off the database's clock`, [evidence]);
}

async function rules(context: CheckContext): Promise<Result[]> {
  const scope = clusterScope(context);
  const watch = context.definitions.watch;
  if (!watch)
    return [
      result(scope, "unknown", "no watch file says who is alerted", [], {
        todo: "name the watch file: --watch FILE, or watch.yaml beside the cluster file",
      }),
    ];
  const location = { file: watch.file, line: watch.line };
  const { reasons, isQuiet, evidence } = await unheard(context, watch, ["clock-offset", "clock-step"]);
  if (reasons.length > 0)
    return [
      result(scope, "fail", reasons.join("; "), evidence, {
        todo: isQuiet ? "end the silence or the window" : "switch it on, as a warning or worse",
        location,
      }),
    ];
  return [result(scope, "pass", "the rules on clocks are on", evidence, { location })];
}
