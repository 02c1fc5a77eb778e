/** Trends of the whole cluster: a backlog that grows, records that do not. */
import { expectedFires } from "../expected-fires.ts";
import type { WatchedExecution } from "../picture.ts";
import { howLong } from "./missing-success.ts";
import { commonCause, type Rule } from "./rule.ts";

/** More work arrives than is done, for ten minutes on end, and more waits than the slots can take in a few rounds. */
export const backlogGrowing: Rule = (picture, settings) => {
  const since = picture.now.getTime() - settings.backlogForMs;
  const window = picture.backlog.filter(({ at }) => at.getTime() >= since);
  const [first, last] = [window[0], window.at(-1)];
  if (!first || !last || last.at.getTime() - first.at.getTime() < settings.backlogForMs * 0.9) return [];
  const slots = picture.executors
    .filter(({ state, leaseUntil }) => state === "active" && leaseUntil > picture.now)
    .reduce((sum, executor) => sum + executor.slots, 0);
  if (last.pendingShards <= slots * settings.backlogPerSlot) return [];
  // Growing: each third of the window waits for more than the one before.
  const thirds = [0, 1, 2].map((i) => {
    const part = window.slice(Math.floor((i * window.length) / 3), Math.floor(((i + 1) * window.length) / 3));
    return part.reduce((sum, sample) => sum + sample.pendingShards, 0) / Math.max(1, part.length);
  });
  if (!(thirds[0]! < thirds[1]! && thirds[1]! < thirds[2]!)) return [];
  return [
    {
      rule: "backlog-growing",
      key: "backlog-growing",
      severity: "warning",
      message: `${last.pendingShards} shards wait for ${slots} slots, ${first.pendingShards} did ${howLong(last.at.getTime() - first.at.getTime())} ago; the oldest is ${howLong(last.mostLateMs)} late`,
      evidence: { first, last, slots },
      ...commonCause(picture, settings, true),
      hint: "escapement status",
    },
  ];
};

/** Fires that have come due, and not one record of a start or an end since: whatever the screens say. */
export const recordsNotGrowing: Rule = (picture, settings) => {
  const nowMs = picture.now.getTime();
  const toMs = nowMs - settings.lateStartMs;
  let newestMs = 0;
  for (const job of picture.jobs) {
    if (job.lastSuccess) newestMs = Math.max(newestMs, newestSign(job.lastSuccess));
    for (const execution of job.sinceSuccess) newestMs = Math.max(newestMs, newestSign(execution));
    for (const execution of job.live) newestMs = Math.max(newestMs, newestSign(execution));
    if (newestMs >= toMs) return [];
  }
  // Fires between the newest sign of life and five minutes ago.
  let due = 0;
  for (const job of picture.jobs) {
    if (job.state !== "active") continue;
    due += expectedFires(job, Math.max(newestMs, nowMs - 86_400_000), toMs, 3).length;
    if (due >= 3) break;
  }
  if (due < 3) return [];
  return [
    {
      rule: "records-not-growing",
      key: "records-not-growing",
      severity: "critical",
      message: `fires have come due, and nothing was opened, started or ended ${newestMs > 0 ? `for ${howLong(nowMs - newestMs)}` : "ever"}`,
      evidence: { newest: newestMs > 0 ? new Date(newestMs) : null },
      ...commonCause(picture, settings, false),
      hint: "escapement status",
    },
  ];
};

function newestSign({ openedAt, startedAt, endedAt }: WatchedExecution): number {
  return Math.max(openedAt?.getTime() ?? 0, startedAt?.getTime() ?? 0, endedAt?.getTime() ?? 0);
}
