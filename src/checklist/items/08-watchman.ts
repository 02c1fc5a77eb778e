/** Item 8: somebody outside notices that nothing happened. */
import { formatDuration } from "../../base/duration.ts";
import { jobSchedule } from "../../schedule/job-schedule.ts";
import {
  readPartLogins,
  readSuccessStates,
  readTestDeliveries,
  readWatchmen,
  readWorkingHosts,
  type SuccessState,
  type WatchmanState,
} from "../../store/checklist/watch-state.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { days } from "./drill-passes.ts";
import { databaseNow, inParts, openStore } from "./parts.ts";
import { clusterScope, queryEvidence, result } from "./verdicts.ts";
import { unheard } from "./watch-silences.ts";
import { heartbeat } from "./watchman-heartbeat.ts";
import { watchmanPlace } from "./watchman-place.ts";

/** Three passes of a watchman that is asked to be slow. */
const leastSilenceMs = 120_000;

export const watchman: ChecklistItem<CheckContext> = {
  number: 8,
  id: "watchman",
  question:
    "Is there a watchman that does not depend on the schedulers, alerts on the last success, and is heard?",
  why: "A scheduler that is down cannot say so. A job that fails makes a noise; one that does not run makes none.",
  how: "Its row and the age of its last pass, its host and failure domain against those of schedulers, executors and the store, its login against theirs, the last test alert of every channel of the watch file, the heartbeat as its metrics show it, and that no job without its last three successes is without an alert.",
  check: (context) =>
    inParts(context, {
      "the watchman's row": () => alive(context),
      "where it runs": () => place(context),
      "its login": () => login(context),
      "test alerts": () => delivered(context),
      "alerts on the last success": () => lastSuccess(context),
      "its heartbeat": () => heartbeat(context),
    }),
};

/** The one that made the last pass, of those that were not stopped if there is one. */
async function newest(context: CheckContext) {
  const looked = await readWatchmen(openStore(context));
  return { looked, row: looked.rows[0] as WatchmanState | undefined };
}

async function alive(context: CheckContext): Promise<Result[]> {
  const { looked, row } = await newest(context);
  const evidence = [queryEvidence(context, looked)];
  const scope = clusterScope(context);
  const todo = "start escapement watchman on a host of its own";
  if (!row) return [result(scope, "fail", "no watchman ever made a pass", evidence, { todo })];
  if (row.stopped) return [result(scope, "fail", `watchman ${row.node} was stopped`, evidence, { todo })];
  const mostMs = Math.max(leastSilenceMs, 3 * (context.definitions.watch?.definition.everyMs ?? 0));
  if (row.ageMs > mostMs)
    return [
      result(
        scope,
        "fail",
        `watchman ${row.node} made its last pass ${formatDuration(Math.round(row.ageMs))} ago`,
        evidence,
        { todo },
      ),
    ];
  return [
    result(
      scope,
      "pass",
      `watchman ${row.node} made a pass ${formatDuration(Math.max(0, Math.round(row.ageMs)))} ago`,
      evidence,
    ),
  ];
}

async function place(context: CheckContext): Promise<Result[]> {
  const { row } = await newest(context);
  const working = await readWorkingHosts(openStore(context), leastSilenceMs);
  if (!row) return [];
  return [watchmanPlace(context, row, working)];
}

async function login(context: CheckContext): Promise<Result[]> {
  const looked = await readPartLogins(openStore(context));
  const evidence = [queryEvidence(context, looked)];
  const scope = clusterScope(context);
  const own = looked.rows.filter(({ part }) => part === "watchman");
  if (own.length === 0) return [result(scope, "unknown", "no session of a watchman can be seen", evidence)];
  const todo = "escapement store grant LOGIN --as watchman, with a login of its own";
  const shared = own.filter((row) =>
    looked.rows.some(({ part, login: name }) => part !== "watchman" && name === row.login),
  );
  if (shared.length > 0)
    return [result(scope, "fail", `the watchman shares the login ${shared[0]!.login}`, evidence, { todo })];
  if (own.length === looked.rows.length)
    return [
      result(
        scope,
        "unknown",
        "no session of a scheduler or executor can be seen to compare with",
        evidence,
        {
          todo: "escapement status: start them",
        },
      ),
    ];
  const mighty = own.filter((row) => row.superuser || row.mayWork);
  if (mighty.length > 0)
    return [
      result(scope, "fail", `the watchman's login ${mighty[0]!.login} may do a scheduler's work`, evidence, {
        todo,
      }),
    ];
  return [result(scope, "pass", `it has the login ${own[0]!.login} for itself`, evidence)];
}

async function delivered(context: CheckContext): Promise<Result[]> {
  const scope = clusterScope(context);
  const watch = context.definitions.watch;
  if (!watch)
    return [
      result(scope, "unknown", "no watch file says which channels there are", [], {
        todo: "name the watch file: --watch FILE, or watch.yaml beside the cluster file",
      }),
    ];
  const looked = await readTestDeliveries(openStore(context));
  // Each channel needs one of its own: the oldest says how long all of them count.
  let oldestMs = 0;
  const problems = watch.definition.channels.flatMap(({ name }) => {
    const rows = looked.rows.filter(({ channel }) => channel === name);
    const good = rows.find(({ state }) => state === "accepted");
    const bad = rows.find(({ state, ageMs }) => state === "failed" && (!good || ageMs < good.ageMs));
    if (bad) return [`${name} did not accept the last test alert: ${bad.lastError ?? "no reason given"}`];
    if (!good) return [`${name} never accepted a test alert`];
    if (good.ageMs > context.maxAgeMs.testAlert)
      return [`${name} accepted its last test alert ${days(good.ageMs)} ago`];
    oldestMs = Math.max(oldestMs, good.ageMs);
    return [];
  });
  const aged = oldestMs > 0 && ({ ageMs: oldestMs, fact: "testAlert" } as const);
  const evidence = [{ ...queryEvidence(context, looked), ...aged }];
  const location = { file: watch.file, line: watch.line };
  if (watch.definition.channels.length === 0) problems.push("the watch file has no channel");
  if (problems.length > 0) {
    const todo =
      "write spec.testAlert into the watch file: only the watchman's own tests are recorded and count; escapement alerts test --watch FILE, which is not recorded, shows why a channel refuses";
    return [result(scope, "fail", problems.join("; "), evidence, { todo, location })];
  }
  return [
    result(
      scope,
      "pass",
      `${watch.definition.channels.length} channel(s) accepted a test alert lately`,
      evidence,
      { location },
    ),
  ];
}

async function lastSuccess(context: CheckContext): Promise<Result[]> {
  const scope = clusterScope(context);
  const watch = context.definitions.watch;
  const looked = await readSuccessStates(openStore(context));
  const now = await databaseNow(context);
  const judged = looked.rows.flatMap((row) => {
    const schedule = jobSchedule(row.fires);
    return schedule ? [{ row, schedule }] : [];
  });
  const silent = judged
    .filter(
      ({ row, schedule }) =>
        isOverdue(row, (before) => schedule.previous(before), now.getTime()) && !row.told,
    )
    .map(({ row }) => row);
  const evidence = [queryEvidence(context, looked, silent.length > 0 ? silent : looked.rows)];
  const names = looked.rows.map(({ job }) => job);
  const heard = watch && (await unheard(context, watch, ["missing-success"], names));
  if (heard) evidence.push(...heard.evidence);
  const problems = [
    ...(heard?.reasons ?? []),
    ...silent.map(({ job }) => `${job} has missed its last three successes and nobody was alerted`),
  ];
  if (problems.length > 0)
    return [
      result(scope, "fail", problems.join("; "), evidence, {
        todo: heard?.isQuiet
          ? "end the silence or the window, or let it name the jobs that it is about"
          : "escapement watchman: see why it does not judge these jobs",
      }),
    ];
  if (looked.rows.length === 0)
    return [
      result(scope, "unknown", "there is no active job that a success could be missing of", evidence, {
        todo: "escapement jobs apply, or resume what is paused",
      }),
    ];
  if (judged.length === 0) {
    const message = `only people run the ${looked.rows.length} active job(s): no success can be missing`;
    return [result(scope, "not-applicable", message, evidence)];
  }
  const message = `none of ${judged.length} job(s) is without its last three successes unnoticed`;
  return [result(scope, "pass", message, evidence)];
}

/** The watchman needs a pass to see it and a moment to tell it. */
const noticeMs = 5 * 60_000;

/** None of the last three fires has a success, and nothing runs that could still be one. */
function isOverdue(row: SuccessState, previous: (before: number) => number | null, nowMs: number): boolean {
  if (row.running) return false;
  let fire: number | null = nowMs - noticeMs;
  for (let i = 0; i < 3 && fire !== null; i += 1) fire = previous(fire);
  if (fire === null || fire <= row.activeSince.getTime()) return false;
  return (row.lastSuccess?.getTime() ?? Number.NEGATIVE_INFINITY) < fire;
}
