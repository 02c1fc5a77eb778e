/** Item 10: how far every clock is off is measured on its own, against the database. */
import { messageOf } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { type OffsetRow, readOffsets } from "../../store/checklist/clocks.ts";
import type { CheckContext, HostProbe } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { apart, disagreements, nearestOfHosts, clockTodo as todo } from "./clock-spread.ts";
import { databaseNow, inParts, merged, openStore } from "./parts.ts";
import { clusterScope, commandEvidence, computed, hostScope, queryEvidence, result } from "./verdicts.ts";
import { unheard } from "./watch-silences.ts";

/** Where the watch file says nothing. */
const usualLimitMs = 100;
/** A measurement that may be wrong by more limits than this says nothing. */
const slowTrips = 10;
/** To one clock. As with NTP, the shortest of them counts. */
const mostTrips = 4;
/** Where all of these were too slow to tell: other items may keep the host busy, and will be done with it. */
const pauseMs = 3_000;
/** Of the item's time, for waiting so: once for the host, once for the database, and a trip after each. */
const patience = 0.35;

export const clockOffset: ChecklistItem<CheckContext> = {
  number: 10,
  id: "clock-offset",
  question:
    "Is the offset of every clock measured against the database, apart from other metrics, and alerted on?",
  why: "A daemon that says it is synchronised may follow a wrong source. Only a comparison with the clock that decides shows it.",
  how: "The offsets that every scheduler and executor writes with its heartbeat: fresh, within the limit, and those of two hosts within the limit of each other. What processes of one host say of its one clock is compared as measurements: where they differ by more than the limit it is unknown, and the smaller one counts. The watch file's rules on clocks are on. Each host is asked for its time between two readings of the monotonic clock, and so is the database: the difference is right to within half of both trips, of which the shortest of a few counts.",
  check: async (context) => {
    const cluster = await inParts(context, {
      "the measured offsets": () => samples(context),
      "the rules on clocks": () => rules(context),
      "the hosts": async () => noHosts(context),
    });
    const hosts = await Promise.all(
      context.hosts.filter(({ container }) => container === undefined).map((host) => measure(context, host)),
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

export const dateCommand = ["date", "-u", "+%s.%N"] as const;

/** Both clocks against the monotonic one of this machine, which needs to be right for a moment only. */
async function measure(context: CheckContext, host: HostProbe): Promise<Result> {
  const scope = hostScope(host);
  try {
    const limitMs = limitOf(context);
    const askHost = async () => {
      const said = await host.exec(dateCommand, { deadlineMs: 10_000 });
      return { wallMs: Number(/^(\d+\.\d+)\s*$/.exec(said.stdout)?.[1] ?? Number.NaN) * 1_000, said };
    };
    const ofHost = await shortestTrip(context, limitMs, askHost);
    if (Number.isNaN(ofHost.wallMs))
      return result(scope, "unknown", "its date says no fractions of a second", []);
    const ofStore = await shortestTrip(context, limitMs, async () => ({
      wallMs: (await databaseNow(context)).getTime(),
    }));
    const offsetMs = ofHost.sinceMs - ofStore.sinceMs;
    const errorMs = ofHost.errorMs + ofStore.errorMs + 1;
    const text = `${offsetMs.toFixed(1)} ± ${errorMs.toFixed(1)} ms`;
    const evidence = [
      commandEvidence(context, host, dateCommand, ofHost.said),
      computed(context, "host minus database", text),
    ];
    if (errorMs > slowTrips * limitMs)
      return result(scope, "unknown", `the trip was too slow to tell: ${text}`, evidence, {
        todo: "look again",
      });
    if (Math.abs(offsetMs) - errorMs > limitMs)
      return result(scope, "fail", `measured from here it is ${text} off the database's clock`, evidence, {
        todo,
      });
    return result(scope, "pass", `measured from here it is ${text} off`, evidence);
  } catch (error) {
    return result(scope, "unknown", `could not measure its clock: ${messageOf(error)}`, [], {
      todo: "make it reachable",
    });
  }
}

/**
 * Asks again, a few times, until a trip was short enough: the first waits for what else is asked at the start.
 * Goes on, with pauses, while two such trips could not tell whether a clock is off.
 */
async function shortestTrip<T extends { readonly wallMs: number }>(
  { itemTimeoutMs, signal }: CheckContext,
  limitMs: number,
  ask: () => Promise<T>,
) {
  const untilMs = monotonicMs() + itemTimeoutMs * patience;
  let best = await against(ask);
  for (let left = mostTrips - 1; left > 0 && best.errorMs > limitMs / 2; left--)
    best = shorter(best, await against(ask));
  while (best.errorMs > (slowTrips * limitMs) / 2 && monotonicMs() < untilMs && !signal.aborted) {
    await sleep(pauseMs, signal);
    best = shorter(best, await against(ask));
  }
  return best;
}

function shorter<T extends { readonly errorMs: number }>(a: T, b: T): T {
  return b.errorMs < a.errorMs ? b : a;
}

/** `sinceMs`: the answer minus the monotonic instant in the middle of the trip. */
async function against<T extends { readonly wallMs: number }>(ask: () => Promise<T>) {
  const sentMs = monotonicMs();
  const answer = await ask();
  const receivedMs = monotonicMs();
  return {
    ...answer,
    sinceMs: answer.wallMs - (sentMs + receivedMs) / 2,
    errorMs: (receivedMs - sentMs) / 2,
  };
}
