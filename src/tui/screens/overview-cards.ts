/** The cards of the overview: today's count, the cluster in six lines, and the three books. */
import { countBound } from "../../store/ui/cluster-look.ts";
import { itemsOf, scoreOf } from "../data/checklist-items.ts";
import { allOf } from "../data/day.ts";
import { latestOfClasses } from "../data/drill-history.ts";
import { clocksOf, watchmanSilentMs } from "../data/host-rows.ts";
import { type State, storeNow } from "../state/state.ts";
import { bar } from "../text/chart.ts";
import { type Line, line, pad, type Span, span, type Tone } from "../text/line.ts";
import { field } from "../text/panel.ts";
import { away, bounded, coarse, count, offsetText } from "../text/time-text.ts";
import { signOf, toneOf } from "./status-text.ts";

const waiting: Line = line(span("…", "muted"));

/** Six lines: what was expected, a bar of what became of it, and the counts. */
export function todayLines(state: State, width: number): Line[] {
  const jobs = state.picture.jobs?.value;
  if (!jobs) return [waiting];
  const { today, unplannedToday } = jobs;
  const due = allOf(today) + unplannedToday;
  const ahead = state.picture.ahead?.value;
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
  const worst = clocksOf(look)[0];
  const watch = watchmen[0];
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
    field(
      "clocks",
      worst
        ? line(
            span(worst.offsetMs === null ? "? unknown" : `worst ${offsetText(worst.offsetMs)}`, worst.tone),
            span(`  ${worst.node}`, "muted"),
          )
        : line(span("? nobody has measured", "warn")),
      label,
    ),
    field(
      "watchman",
      watch
        ? line(
            span(
              watch.passMsAgo < watchmanSilentMs ? "✓ " : "✗ ",
              watch.passMsAgo < watchmanSilentMs ? "good" : "bad",
            ),
            watch.node,
            span(`  looked ${coarse(Math.max(0, watch.passMsAgo))} ago`, "muted"),
          )
        : line(span("! none has looked", "warn")),
      label,
    ),
  ];
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

/** Alerts, the latest drill of each class, and the checklist's score, in as many lines as there are. */
export function booksLines(state: State, width: number, height: number): Line[] {
  const now = storeNow(state);
  if (!now) return [waiting];
  const alerts = alertLines(state, width, now);
  const drills = drillLines(state, now);
  const checklist = checklistLine(state, now);
  const room = Math.max(0, height - 1);
  // Both get half; what one does not need the other has.
  const half = Math.floor(room / 2);
  const alertRoom = Math.min(alerts.length, Math.max(half, room - drills.length));
  return [...alerts.slice(0, alertRoom), ...drills.slice(0, room - alertRoom), checklist];
}

function alertLines(state: State, width: number, now: Date): Line[] {
  const alerts = state.picture.alerts?.value;
  if (!alerts) return [waiting];
  if (alerts.length === 0) return [line(span("✓ ", "good"), "no open alert")];
  const of = (severity: string) => alerts.filter((one) => one.severity === severity).length;
  const summary = line(
    span(`${of("critical")} critical`, of("critical") > 0 ? "bad" : "muted"),
    span("  "),
    span(`${of("warning")} warning`, of("warning") > 0 ? "warn" : "muted"),
    span(`  ${of("info")} info`, "muted"),
  );
  return [
    summary,
    ...alerts.map(({ severity, message, firstAt }) => {
      const tone: Tone = severity === "critical" ? "bad" : severity === "warning" ? "warn" : "muted";
      return line(
        span(severity === "critical" ? "✗ " : "! ", tone),
        span(pad(message, Math.max(8, width - 7))),
        span(` ${coarse(now.getTime() - firstAt.getTime())}`, "muted"),
      );
    }),
  ];
}

function drillLines(state: State, now: Date): Line[] {
  const drills = state.picture.drills?.value;
  if (!drills) return [waiting];
  const halted = drills.halt
    ? [line(span("⊘ drills are halted", "warn"), span(` by ${drills.halt.person}`, "muted"))]
    : [];
  const latest = latestOfClasses(drills.runs);
  if (latest.length === 0) return [...halted, line(span("? no drill has ever run", "warn"))];
  return [
    ...halted,
    ...latest.map((run) => {
      const result = run.verdict ?? "running";
      return line(
        span(`${signOf(result)} `, toneOf(result)),
        span(`${run.class} `),
        span(
          run.verdict ? `${result} ${away(run.startedAt, now)}` : `${run.state} now`,
          run.verdict ? "muted" : "busy",
        ),
      );
    }),
  ];
}

function checklistLine(state: State, now: Date): Line {
  const runs = state.picture.checklists?.value;
  if (!runs) return waiting;
  const latest = runs[0];
  if (!latest) return line(span("? the checklist has never run", "warn"));
  const { passed, asked } = scoreOf(itemsOf(latest.items));
  return line(
    span(`${signOf(latest.outcome)} `, toneOf(latest.outcome)),
    span(`checklist ${passed} of ${asked}`, "strong"),
    span(`  ${away(latest.at, now)}`, "muted"),
  );
}
