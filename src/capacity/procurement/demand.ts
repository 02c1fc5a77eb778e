/** What each role of a procurement sheet needs of its machines, from the workload. */
import type { FigureName, Role } from "../../spec/procurement-schema.ts";
import type { Workload, WorkloadJob } from "../../spec/workload-schema.ts";
import type { Answer } from "../figure.ts";
import { type Figure, figure } from "../figure.ts";
import type { ShardNeed, WorkClass } from "../machine/concurrency.ts";
import { peakMargin } from "../machine/memory.ts";
import { schedulerSize } from "../machine/scheduler-size.ts";
import { concurrentShards } from "../machine/topology.ts";
import { needOf } from "../machine/workload-need.ts";
import type { StorageAnswer } from "../storage/estimate.ts";

export type DemandFigures = Readonly<Partial<Record<FigureName, Figure>>>;

/** One page of the sheet before parts are chosen. */
export interface RoleDemand {
  readonly role: Role;
  /** `executor-cpu` for the cpu executors, else the role's own name. */
  readonly name: string;
  readonly title: string;
  /** Known for all roles but executors, whose number follows from the machine chosen. */
  readonly machines: Figure | undefined;
  readonly figures: DemandFigures;
  /** For executors: shards at once over all machines, and what one takes. */
  readonly shards?: { readonly atOnce: Figure; readonly need: ShardNeed };
}

const gibibyte = 2 ** 30;
/** Flushes and writes are ordered with this much room. */
const diskHeadroom = 3;
/** Commits a second that one core of the record store carries, by half of what it is built to reach on two. */
const commitsPerCore = 3_000;
const fewestStoreCores = 4;
const fewestStoreMemory = 16 * gibibyte;

export function demandOf(role: Role, workload: Workload, storage: StorageAnswer, iops: Answer): RoleDemand[] {
  switch (role.use) {
    case "scheduler":
      return [schedulerDemand(role, workload)];
    case "executor":
      return executorDemands(role, workload);
    case "record-store":
      return [storeDemand(role, storage, iops)];
    case "watchman":
      return [fixedDemand(role)];
  }
}

function schedulerDemand(role: Role, workload: Workload): RoleDemand {
  const jobs = workload.jobs.reduce((sum, job) => sum + job.jobs, 0);
  const fires = workload.jobs.reduce((sum, job) => sum + job.jobs * job.runsPerDay, 0);
  const size = schedulerSize(jobs, fires);
  const machines =
    role.machines === undefined
      ? size.machines
      : figure("machines", role.machines, "count", "as the sheet says", { machines: role.machines }, "input");
  return {
    role,
    name: role.name,
    title: role.title,
    machines,
    figures: { cores: size.cores, memoryBytes: size.memoryBytes, ...fixedFigures(role) },
  };
}

function fixedDemand(role: Role): RoleDemand {
  const machines = figure("machines", role.machines ?? 1, "count", "as the sheet says", {}, "input");
  return { role, name: role.name, title: role.title, machines, figures: fixedFigures(role) };
}

/** What the sheet itself fixes. */
function fixedFigures(role: Role): DemandFigures {
  const fixed = (label: string, value: number, unit: Figure["unit"]) =>
    figure(label, value, unit, "as the sheet says", {}, "input");
  return {
    ...(role.cores !== undefined && { cores: fixed("cores of each", role.cores, "count") }),
    ...(role.memory !== undefined && { memoryBytes: fixed("memory of each", role.memory, "memory") }),
    ...(role.disk.capacity !== undefined && {
      diskBytes: fixed("usable disk of each", role.disk.capacity, "bytes"),
    }),
    networkGigabits: fixed("link, Gbit/s", role.networkGigabits, "count"),
  };
}

/** The factor of the peak that comes every month; rarer peaks may take longer. */
export function sizingPeak(workload: Workload): number {
  return Math.max(
    1,
    ...workload.peaks.filter(({ when }) => when === "month-end").map(({ factor }) => factor),
  );
}

function executorDemands(role: Role, workload: Workload): RoleDemand[] {
  const byClass = new Map<WorkClass, WorkloadJob[]>();
  for (const job of workload.jobs) byClass.set(job.class, [...(byClass.get(job.class) ?? []), job]);
  const factor = sizingPeak(workload);
  return [...byClass].map(([name, jobs]) => {
    const ordinary = jobs.reduce((sum, job) => sum + concurrentShards(job, workload), 0);
    const atOnce = Math.ceil(ordinary * factor);
    // The hungriest line speaks for its class: any mix of them then fits.
    const needs = jobs.map(needOf);
    const need: ShardNeed = {
      class: name,
      cores: Math.max(...needs.map(({ cores }) => cores)),
      peakBytes: Math.max(...needs.map(({ peakBytes }) => peakBytes)),
      iops: Math.max(...needs.map(({ iops }) => iops)),
      networkBytes: Math.max(...needs.map(({ networkBytes }) => networkBytes)),
    };
    return {
      role,
      name: `${role.name}-${name}`,
      title: `${role.title}, ${name} class`,
      machines: undefined,
      figures: fixedFigures(role),
      shards: {
        atOnce: figure(
          "shards at once, all machines",
          atOnce,
          "count",
          `⌈${ordinary.toFixed(1)} in the busiest window × ${factor} at month end⌉`,
          { ordinary, factor, jobs: jobs.map((job) => job.name).join(", ") },
          "arithmetic",
        ),
        need,
      },
    };
  });
}

function storeDemand(role: Role, storage: StorageAnswer, iops: Answer): RoleDemand {
  const needed = storage.figures.needed!;
  // A single executor at work has nobody to share a flush with.
  const flushes = iops.figures.peakCommits!.value * diskHeadroom;
  // The layout's penalty is paid by the drives, not by what is asked of them together.
  const writes = iops.figures.writes!.value * diskHeadroom;
  const commits = iops.figures.peakCommits!.value;
  const cores = Math.max(fewestStoreCores, Math.ceil(commits / commitsPerCore));
  const monthIndex = storage.figures.temp!.value - gibibyte;
  const memory = Math.max(fewestStoreMemory, 4 * (monthIndex + storage.figures.live!.value));
  const machines = role.machines ?? 2;
  return {
    role,
    name: role.name,
    title: role.title,
    machines: figure("machines", machines, "count", "primary and standby", { machines }, "input"),
    figures: {
      ...fixedFigures(role),
      diskBytes: { ...needed, label: "usable disk of each" },
      flushesPerSecond: figure(
        "flushes a second",
        flushes,
        "per second",
        `commits in the busiest window, not shared, × ${diskHeadroom}`,
        { commits, diskHeadroom },
        "arithmetic",
      ),
      writeIops: figure(
        "random writes a second",
        writes,
        "per second",
        `needed at the drives × ${diskHeadroom}`,
        { needed: iops.figures.writes!.value, diskHeadroom },
        "arithmetic",
      ),
      cores: figure(
        "cores of each",
        cores,
        "count",
        `the larger of ${fewestStoreCores} and ⌈${commits.toFixed(0)} commits a second ÷ ${commitsPerCore}⌉`,
        { commits, commitsPerCore },
        "assumption.commit-cpu",
      ),
      memoryBytes: figure(
        "memory of each",
        memory,
        "memory",
        "the larger of 16 GiB and 4 × (index of a month + live tables), of which PostgreSQL caches a quarter",
        { monthIndex },
        "arithmetic",
      ),
    },
  };
}

/** Memory one running shard is given. */
export function reserveOf(need: ShardNeed): number {
  return need.peakBytes * peakMargin;
}
