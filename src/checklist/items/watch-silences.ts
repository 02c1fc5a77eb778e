/** Whether a watch file lets nobody hear of a missing success now, whatever the job. */
import { compileSchedule } from "../../schedule/compile.ts";
import { describeMatch, fits } from "../../spec/alert-match.ts";
import type { AlertMatch, WatchDefinition, WatchWindow } from "../../spec/watch-definition.ts";

/**
 * @param jobs `namespace/name`
 * @param now by the database's clock
 * @returns what holds all of them back, in words; undefined where at least one would be told, or there is no job
 */
export function silencesEverything(
  watch: WatchDefinition,
  jobs: readonly string[],
  now: Date,
): string | undefined {
  const held = [
    ...(watch.silences ?? []).flatMap(({ match, until }) =>
      now < until ? [{ match, text: `silence of ${describeMatch(match)} until ${until.toISOString()}` }] : [],
    ),
    ...(watch.windows ?? []).flatMap((window) =>
      isOpen(window, now.getTime())
        ? [{ match: window.match, text: `window of ${describeMatch(window.match)} (${window.reason})` }]
        : [],
    ),
  ];
  const first = jobs.map((job) => held.find(({ match }) => holdsBack(match, job)));
  if (first.length === 0 || first.includes(undefined)) return undefined;
  return [...new Set(first.map((one) => one!.text))].join(", ");
}

/** Keys of alerts have the number of the job and the time of the fire, which no file can name ahead. */
function holdsBack(match: AlertMatch, job: string): boolean {
  const rule = "missing-success";
  return fits(match, { rule, key: `${rule}:0:`, severity: "critical", job });
}

function isOpen(window: WatchWindow, nowMs: number): boolean {
  if (window.kind === "single") return window.from.getTime() <= nowMs && nowMs < window.to.getTime();
  const begin = compileSchedule({ cron: window.cron, zone: window.zone }).previous(nowMs + 1);
  return begin !== null && nowMs < begin + window.durationMs;
}
