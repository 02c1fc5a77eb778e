/**
 * A shard that is running although its executor's lease has ended: it should have
 * been put back by now. And one that goes from executor to executor.
 */
import type { Picture, TroubledShard, WatchedJob } from "../picture.ts";
import { howLong } from "./missing-success.ts";
import { about, argument, instant, type Rule } from "./rule.ts";

export const stuckRunning: Rule = (picture, settings) => {
  const limit = picture.now.getTime() - settings.leaseOverdueMs;
  const stuck = picture.shards.filter(
    (shard) => shard.ownerLeaseUntil !== null && shard.ownerLeaseUntil.getTime() < limit,
  );
  return byExecution(picture, stuck).map(({ job, fireMs, shards }) => {
    const first = shards[0]!;
    return {
      rule: "stuck-running",
      key: `stuck-running:${job.jobId}:${instant(fireMs)}`,
      severity: "critical",
      ...about(job, fireMs),
      message:
        `${job.job}: ${shards.length} shard(s) of the fire of ${instant(fireMs)} count as running on ${first.node ?? "?"}, ` +
        `whose lease ended ${howLong(picture.now.getTime() - first.ownerLeaseUntil!.getTime())} ago`,
      evidence: {
        shards: shards.slice(0, 20).map(({ shardNo, node, attempt }) => ({ shardNo, node, attempt })),
      },
      cause: `executor:${first.node ?? "?"}`,
      hint: `escapement shards ${argument(job.job)} ${instant(fireMs)}`,
    };
  });
};

export const reclaimLoop: Rule = (picture, settings) => {
  const looping = picture.shards.filter((shard) => shard.leaseExpirations >= settings.reclaims);
  return byExecution(picture, looping).map(({ job, fireMs, shards }) => ({
    rule: "reclaim-loop",
    key: `reclaim-loop:${job.jobId}:${instant(fireMs)}`,
    severity: "critical",
    ...about(job, fireMs),
    message:
      `${job.job}: ${shards.length} shard(s) of the fire of ${instant(fireMs)} were taken back from dead executors ` +
      `${Math.max(...shards.map((shard) => shard.leaseExpirations))} times; the job may be what kills them`,
    evidence: {
      shards: shards
        .slice(0, 20)
        .map(({ shardNo, attempt, leaseExpirations }) => ({ shardNo, attempt, leaseExpirations })),
    },
    hint: `escapement diagnose --job ${argument(job.job)}`,
  }));
};

interface Group {
  readonly job: WatchedJob;
  readonly fireMs: number;
  readonly shards: readonly TroubledShard[];
}

function byExecution(picture: Picture, shards: readonly TroubledShard[]): Group[] {
  const jobs = new Map(picture.jobs.map((job) => [job.jobId, job]));
  const groups = new Map<string, { job: WatchedJob; fireMs: number; shards: TroubledShard[] }>();
  for (const shard of shards) {
    const job = jobs.get(shard.jobId);
    if (!job) continue;
    const key = `${shard.jobId} ${shard.fireTime.getTime()}`;
    const group = groups.get(key) ?? { job, fireMs: shard.fireTime.getTime(), shards: [] };
    group.shards.push(shard);
    groups.set(key, group);
  }
  return [...groups.values()];
}
