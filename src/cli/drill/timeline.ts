/** A run of a drill on a line: where it has been, where it is, what is to come. Pure. */
import { formatDuration } from "../../base/duration.ts";
import type { DrillRunRow, DrillState } from "../../store/drill/drill-run.ts";
import { silentForMs } from "../../store/drill/run-silence.ts";
import { paint } from "../terminal.ts";

const states: readonly DrillState[] = ["preflight", "armed", "fault", "restoring", "settling", "judging"];

/** `preflight ─ armed ─ [fault 12s] ─ restoring ─ settling ─ judging`. @param now of the database */
export function timeline(run: DrillRunRow, now: Date): string {
  const current = states.indexOf(run.state);
  return states
    .map((state, i) => {
      if (run.state === "ended" || i < current) return paint.green(state);
      if (i > current) return paint.dim(state);
      const since = { fault: run.faultAt, settling: run.restoredAt }[state as string];
      return paint.bold(`[${state}${since ? ` ${elapsed(since, now)}` : ""}]`);
    })
    .join(" ─ ");
}

const outcomeText = {
  ...{ pass: "pass", fail: "fail", unknown: "unknown" },
  ...{ refused: "refused, nothing was done", "left-out": "left out" },
} as const;

/** What a person wants to know of a run, a line each. */
export function runLines(run: DrillRunRow, now: Date): string[] {
  const hosts = run.targets.map(({ host }) => host).join(", ");
  const by = run.trigger === "schedule" ? "the timetable" : run.person;
  const head = `${paint.bold(run.drill)} (${run.runId.slice(0, 8)})${hosts === "" ? "" : ` on ${hosts}`}, by ${by}`;
  if (run.outcome !== null)
    return [`${head}: ${outcomeText[run.outcome]}, ${elapsed(run.endedAt!, now)} ago: ${run.reason ?? ""}`];
  return [
    `${head}, for ${elapsed(run.startedAt, now)}`,
    timeline(run, now),
    ...silence(run, now),
    ...(run.abortRequestedAt ? [paint.yellow(`asked to end: ${run.abortReason ?? ""}`)] : []),
  ];
}

/** A controller that died looks alive until its lease is over, but for what it no longer says. */
function silence(run: DrillRunRow, now: Date): string[] {
  const silentMs = silentForMs(run, now);
  const long = silentMs === null ? "" : ` for ${wholeSeconds(silentMs)} or longer`;
  if (run.abandoned)
    return [
      paint.red(
        `its controller is silent${long}; the host restores itself. escapement drill abort puts it right and ends the run`,
      ),
    ];
  if (silentMs === null) return [];
  const left = wholeSeconds(run.leaseUntil.getTime() - now.getTime());
  return [
    paint.yellow(
      `nothing was heard of its controller${long}; where it is gone, escapement drill abort ends the run when its lease is over, in ${left}`,
    ),
  ];
}

function elapsed(since: Date, now: Date): string {
  return wholeSeconds(now.getTime() - since.getTime());
}

function wholeSeconds(ms: number): string {
  return formatDuration(Math.max(0, Math.floor(ms / 1_000)) * 1_000);
}
