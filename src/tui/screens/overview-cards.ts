/** The cards of the overview: today's count, and the cluster in six lines. */
import { countBound, type WatchmanLook } from "../../store/ui/cluster-look.ts";
import { allOf } from "../data/day.ts";
import { clocksOf } from "../data/host-rows.ts";
import { bestWatchman, watchmanState } from "../data/watchmen.ts";
import { type State, storeNow } from "../state/state.ts";
import { bar } from "../text/chart.ts";
import { type Line, line, pad, type Span, span, type Tone } from "../text/line.ts";
import { field } from "../text/panel.ts";
import { bounded, coarse, count, offsetText } from "../text/time-text.ts";

const waiting: Line = line(span("…", "muted"));

/** Six lines: what was expected, a bar of what became of it, and the counts. */
export function todayLines(state: State, width: number): Line[] {
  const jobs = state.picture.jobs?.value;
  if (!jobs) return [waiting];
  const { today, unplannedToday } = jobs;
  const due = allOf(today) + unplannedToday;
  // Without a job there is nothing to count, and nobody who counts it.
  const none = jobs.complete && jobs.jobs.length === 0;
  const ahead = none ? { fires: 0, counted: 0 } : state.picture.ahead?.value;
  const known = ahead !== undefined && ahead.counted >= jobs.jobs.length;
  const missing = today.missed + unplannedToday;
  const expected = known ? count(due + ahead.fires) : "…";
  const wrong = missing + today.failed + today.refused;
  const verdict: [string, Tone] = !jobs.complete
    ? ["reading…", "muted"]
    : wrong > 0
      ? [`${count(wrong)} went wrong`, "bad"]
      : jobs.unreadable > 0
        ? [`? ${count(jobs.unreadable)} unreadable`, "bad"]
        : today.late > 0
          ? ["all ran, some late", "warn"]
          : ["all well", "good"];
  const shares = (value: number) => (due === 0 ? 0 : value / due);
  const cell = (sign: string, value: number, word: string, tone: Tone): Span[] => [
    span(`${sign} `, value > 0 ? tone : "muted"),
    span(
      pad(count(value), Math.max(4, Math.min(7, Math.floor(width / 2) - 12)), "right"),
      value > 0 ? "strong" : "muted",
    ),
    span(pad(` ${word}`, 10), "muted"),
  ];
  return [
    line(
      span(count(due), "strong"),
      span(" of ", "muted"),
      span(expected, "strong"),
      span(" due, ", "muted"),
      span(known ? count(ahead.fires) : "…", "strong"),
      span(" to come", "muted"),
    ),
    line(
      ...bar(
        [
          { share: shares(missing + today.failed), tone: "bad" },
          { share: shares(today.refused), tone: "warn" },
          { share: shares(today.running + today.waiting), tone: "busy" },
          { share: shares(today.done), tone: "good" },
        ],
        width,
      ),
    ),
    line(...cell("✓", today.done, "done", "good"), ...cell("!", missing, "missing", "bad")),
    line(...cell("▸", today.running, "running", "busy"), ...cell("✗", today.failed, "failed", "bad")),
    line(...cell("○", today.waiting, "waiting", "busy"), ...cell("~", today.late, "late", "warn")),
    line(...cell("⊘", today.refused, "refused", "warn"), span(verdict[0], verdict[1])),
  ];
}

export function clusterLines(state: State, width: number): Line[] {
  const look = state.picture.cluster?.value;
  const now = storeNow(state);
  if (!look || !now) return [waiting];
  const { leader, schedulers, executors, watchmen, work } = look;
  const label = 9;
  const lead = leader.alive
    ? line(
        span("✓ ", "good"),
        span(leader.node ?? "?", "strong"),
        span(` epoch ${leader.epoch}`, "plain"),
        span(leader.since ? ` for ${coarse(now.getTime() - leader.since.getTime())}` : "", "muted"),
      )
    : line(
        span("✗ nobody leads", "bad"),
        span(`  epoch ${leader.epoch}, last ${leader.node ?? "nobody"}`, "muted"),
      );
  const standing = schedulers.filter(({ role }) => role !== "leader" && role !== "stopped");
  const standby =
    standing.length === 0
      ? line(span("! no standby", "warn"))
      : line(
          ...standing.flatMap((one): Span[] => [
            span(`${one.node}`, one.role === "silent" ? "bad" : "plain"),
            span(one.role === "silent" ? ` silent ${coarse(one.seenMsAgo)}` : "", "bad"),
          ]),
        );
  const vip = vipOf(state);
  const live = executors.filter(
    ({ state: one, leaseLeftMs }) => (one === "active" || one === "draining") && leaseLeftMs > 0,
  );
  const gone = executors.length - live.length;
  const slots = live.reduce((sum, one) => sum + one.slots, 0);
  const clocks = clocksOf(look);
  return [
    field("leader", lead, label),
    field("standby", line(...standby.spans, span("  "), ...vip), label),
    field(
      "executors",
      line(
        span(`${live.length} live`, live.length > 0 ? "strong" : "bad"),
        span(gone > 0 ? `, ${gone} gone` : "", "bad"),
        span(`  ${count(slots)} slots`, "muted"),
        ...drainedSpans(executors.filter(({ drain }) => drain).length),
      ),
      label,
    ),
    field(
      "work",
      line(
        span(bounded(work.shardsRunning, countBound), "strong"),
        span(" shards run, ", "muted"),
        span(bounded(work.shardsWaiting, countBound), "strong"),
        span(" wait", "muted"),
        span(width > 44 ? `; ${bounded(work.planned, countBound)} fires planned` : "", "muted"),
        span(
          work.staleWrites > 0 ? `, ${bounded(work.staleWrites, countBound)} stale writes refused` : "",
          "warn",
        ),
      ),
      label,
    ),
    field("clocks", clockLine(clocks), label),
    field("watchman", watchmanLine(watchmen), label),
  ];
}

/** The worst that is known, and how many are not. */
function clockLine(clocks: ReturnType<typeof clocksOf>): Line {
  const unknown = clocks.filter(({ offsetMs }) => offsetMs === null).length;
  const [worst] = clocks;
  if (!worst || worst.offsetMs === null) return line(span("? nobody has measured", "warn"));
  return line(
    span(`worst ${offsetText(worst.offsetMs)}`, worst.tone),
    span(`  ${worst.node}`, "muted"),
    span(unknown > 0 ? `, ? ${unknown} not measured` : "", "warn"),
  );
}

function watchmanLine(watchmen: readonly WatchmanLook[]): Line {
  const best = bestWatchman(watchmen);
  if (!best) return line(span("! none has looked", "warn"));
  const { state, tone, sign, looked } = watchmanState(best);
  const others = watchmen.filter((one) => one !== best && watchmanState(one).state !== "watches").length;
  return line(
    span(`${sign} `, tone),
    best.node,
    span(state === "watches" ? "" : ` ${state}`, tone),
    span(`  ${looked}`, "muted"),
    span(others > 0 ? `, ${others} not` : "", "warn"),
  );
}

function drainedSpans(drained: number): Span[] {
  return drained === 0 ? [] : [span(`, ${drained} drained`, "warn")];
}

/** Who holds the virtual address. Two are possible, and nobody depends on there being one. */
function vipOf(state: State): Span[] {
  const schedulers = state.picture.cluster?.value.schedulers.filter(({ role }) => role !== "stopped") ?? [];
  const asked = schedulers.filter(({ holdsVirtualAddress }) => holdsVirtualAddress !== null);
  if (asked.length === 0) return [span("VIP none", "muted")];
  const holders = asked.filter(({ holdsVirtualAddress }) => holdsVirtualAddress).map(({ node }) => node);
  if (holders.length === 1) return [span("VIP ", "muted"), span(holders[0]!)];
  return holders.length === 0 ? [span("VIP nobody", "bad")] : [span(`VIP ${holders.join(" and ")}`, "bad")];
}
