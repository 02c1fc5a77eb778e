/**
 * What a leading scheduler costs with 1,000 jobs: resident memory and processor time over a minute.
 *
 * Half of the jobs fire hourly, half daily; nothing else runs in the cluster.
 * Bar: ≤ 100 MB resident, ≤ 2 % of one core. Linux: read from /proc. `npm run bench -- scheduler-idle [SECONDS]`.
 */
import { readFileSync } from "node:fs";
import { monotonicMs, sleep } from "../src/base/monotonic.ts";
import { type ProcessCluster, startProcessCluster } from "../src/lab/process-cluster.ts";
import { applyJob } from "../src/store/job-change.ts";
import { benchJob } from "./bench-job.ts";

const jobs = 1_000;
const bar = { megabytes: 100, percent: 2 };
/** USER_HZ, the unit of /proc/PID/stat: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

const seconds = Number(process.argv.slice(2).find((word) => /^\d+$/.test(word)) ?? 60);
const cluster = await startProcessCluster({
  schedulers: 2,
  executors: 1,
  prepare: async (store) => {
    for (let job = 0; job < jobs; job += 1) {
      const cron = job % 2 === 0 ? `${job % 60} * * * *` : `${job % 60} ${job % 24} * * *`;
      const definition = { ...benchJob(`idle-${job}`, 1), schedule: { kind: "cron", cron } as const };
      await applyJob(store, definition, `idle-${job}`, { person: "bench", reason: "bench" });
    }
  },
});
try {
  // The first pass plans everything; what counts is what comes after it.
  await sleep(15_000);
  const leader = (await cluster.leader())?.node;
  const before = cluster.schedulers.map(read);
  const startedMs = monotonicMs();
  await sleep(seconds * 1_000);
  const tookSeconds = (monotonicMs() - startedMs) / 1_000;
  let within = true;
  for (const [i, node] of cluster.schedulers.entries()) {
    const after = read(node);
    const percent = ((after.cpuSeconds - before[i]!.cpuSeconds) / tookSeconds) * 100;
    within &&= after.megabytes <= bar.megabytes && percent <= bar.percent;
    const role = node.name === leader ? "leader" : "standby";
    console.log(
      `${node.name} (${role}): ${after.megabytes.toFixed(1)} MB resident, ${percent.toFixed(2)} % of a core`,
    );
  }
  console.log(
    `${jobs} jobs, ${tookSeconds.toFixed(0)} s; bar: ≤ ${bar.megabytes} MB, ≤ ${bar.percent} %: ${within ? "met" : "MISSED"}`,
  );
  if (!within) process.exitCode = 1;
} finally {
  await cluster.down();
}

function read(node: ProcessCluster["schedulers"][number]): { megabytes: number; cpuSeconds: number } {
  const stat = readFileSync(`/proc/${node.pid}/stat`, "utf8");
  // The name in parentheses may hold anything; the fields begin behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${node.pid}/status`, "utf8"))?.[1];
  return {
    megabytes: Number(resident) / 1_024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
  };
}
