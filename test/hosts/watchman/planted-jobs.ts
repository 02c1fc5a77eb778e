/** Jobs that go wrong, each in its own way, and what the diagnosis must say of them. */

const common = (name: string, spec: string, memory = "64MiB", of = "cpu") => `apiVersion: escapement/v1
kind: Job
metadata: { name: ${name}, namespace: ops }
spec:
  timeZone: UTC
  dstGap: run-at-transition
  dstOverlap: first
  retry: { maxAttempts: 3, delays: [1s] }
  lease: 15s
  timeout: 10m
  catchUp: { maxFires: 3, keep: oldest }
  resources: { class: ${of}, peakMemory: ${memory} }
  effects: []
${spec}`;

const alone = "  shards: { by: none }\n";
const byHand = "  schedule: { manual: true }\n  misfire: { policy: run-now, threshold: 5m }\n";
const apart = "  blocking: { policy: allow }\n";
const each = (every: string, command: string) =>
  `${alone}  schedule: { every: ${every} }\n  command: [sh, -c, "${command}"]\n`;
const late = "  misfire: { policy: run-now, threshold: 5m }\n";
const skipped = "  misfire: { policy: skip, threshold: 5s }\n";

const failing = (name: string, command: string, memory?: string) =>
  common(name, `${alone}${byHand}${apart}  command: [sh, -c, "${command}"]\n`, memory);

/** What the site has from the beginning. */
export const siteJobs = [
  common("minute", `${each("60s", "true")}  misfire: { policy: run-now, threshold: 30s }\n${apart}`),
  common("tick", `${each("5s", "true")}${skipped}${apart}`),
  common("long", `${alone}${byHand}${apart}  command: [sleep, "300"]\n`),
].join("---\n");

/** @param ledger URL of the jobs' database, where somebody locks a table; waiting for it is cut short there */
export const plantedJobs = (ledger: string): string =>
  [
    failing("fails", "echo no such supplier >&2; exit 3"),
    failing("half", "escapement report --rows 12 && exit 3", "512MiB"),
    failing("greedy", "head -c 300M /dev/zero | tail -c 200M", "16MiB"),
    failing("waits", `escapement guard list --url ${ledger}`, "512MiB"),
    common("absent", `${alone}${byHand}${apart}  command: [/nowhere/program]\n`),
    common("slow", `${alone}${byHand}${apart}  command: [sleep, "300"]\n`).replace(
      "timeout: 10m",
      "timeout: 2s",
    ),
    common(
      "shards",
      `  shards: { by: hash, count: 2, key: supplier }\n${byHand}${apart}  command: [sh, -c, "exit $ESCAPEMENT_SHARD_NO"]\n`,
    ),
    common("stopped", `${alone}${byHand}${apart}  command: [sleep, "300"]\n`),
    common("pays", `${alone}${byHand}${apart}  command: ["true"]\n`),
    common("queue", `${each("5s", "sleep 9")}${late}  blocking: { policy: queue, maxQueued: 3 }\n`),
    common("forbid", `${each("5s", "sleep 8")}${late}  blocking: { policy: forbid }\n`),
    common("replace", `${each("5s", "sleep 8")}${late}  blocking: { policy: replace }\n`),
    common("crowd", `${each("4s", "sleep 12")}${late}${apart}`, "64MiB", "memory"),
    common("daily", `${each("5s", "true")}${late}${apart}  period: { unit: day, offset: 0 }\n`),
    ...["pauses", "deletes", "locked"].map((name) => common(name, `${each("7s", "true")}${late}${apart}`)),
    edits("7s"),
  ].join("---\n");

/** Applied again with another interval. */
export const edits = (every: string): string => common("edits", `${each(every, "true")}${late}${apart}`);

/** Applied while nobody leads: nobody plans them. */
export const unplannedJobs = [
  common("unplanned", `${each("5s", "true")}${skipped}${apart}`),
  common("caught-up", `${each("5s", "true")}${late.replace("5m", "5s")}${apart}`),
  common("chain", `${each("5s", "false")}${late.replace("5m", "5s")}${apart}`),
  common("broken", `${each("5s", "true")}${skipped}${apart}`),
].join("---\n");

/** Run by hand, once. */
export const ranByHand = ["fails", "half", "greedy", "waits", "absent", "slow", "shards", "stopped", "pays"];

/** `class cause` of what goes wrong without a leader as it does with one. */
export const alwaysSaid: Readonly<Record<string, string>> = {
  fails: "shard-failed job-error",
  shards: "shard-failed job-error",
  half: "partial job-error",
  greedy: "interrupted oom-kill",
  absent: "shard-failed cannot-start",
  slow: "interrupted timeout",
  stopped: "interrupted cancelled",
  minute: "duplicate manual-run",
  queue: "late earlier-run",
  forbid: "blocked earlier-run",
  replace: "interrupted replaced",
  crowd: "late executors-busy",
  daily: "blocked period-taken",
};

/** What takes a minute to be judged: a fire younger than that may still come. */
export const saidOfUnrun: Readonly<Record<string, string>> = {
  pauses: "never-fired paused",
  edits: "never-fired edited",
  deletes: "never-fired deleted",
  locked: "never-fired lock-wait",
  unplanned: "never-fired no-leader",
};

/** What is said once there is a leader again. */
export const saidAfterwards: Readonly<Record<string, string>> = {
  unplanned: "never-fired no-leader",
  "caught-up": "late no-leader",
  chain: "never-fired chain-broken",
};

/** For psql: a call in doubt that a person gives free, made again at a receiver that knows no repeats. */
export const repeatedCall = (key: string): string => `\\set key '${key}'
SELECT escapement_guard.call_begin(:'key', '1', 'bank', false, '1 ms');
SELECT pg_sleep(0.5);
SELECT escapement_guard.call_sweep();
SELECT escapement_guard.call_settle(:'key', 'ready', 'sam', 'not in the list of the bank');
SELECT token FROM escapement_guard.call_begin(:'key', '1', 'bank', false, '1 minute') \\gset
SELECT escapement_guard.call_confirm(:'key', :token);
SELECT escapement_guard.call_done(:'key', :token, '1');
`;

/** A fire that is old enough to be judged by what is not there. */
export const rowTakenAway = `CREATE TEMPORARY TABLE gone AS SELECT job_id, fire_time FROM escapement.execution
  JOIN escapement.job USING (job_id) WHERE name = 'tick' AND status = 'success'
    AND fire_time < clock_timestamp() - interval '70 seconds' ORDER BY fire_time DESC LIMIT 1;
DELETE FROM escapement.shard WHERE (job_id, fire_time) IN (SELECT job_id, fire_time FROM gone);
DELETE FROM escapement.execution WHERE (job_id, fire_time) IN (SELECT job_id, fire_time FROM gone);
`;
