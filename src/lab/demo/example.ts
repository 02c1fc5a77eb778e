/**
 * The example cluster of `examples/settlement`, made ready for this machine. The
 * files are used as they are, except for what only the moment can tell: ports,
 * the folder, and which supplier is the heavy one.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import type { ClusterDefinition, LeaseSettings } from "../../spec/cluster-definition.ts";
import { digest } from "../../spec/digest.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { loadFiles } from "../../spec/load.ts";
import { formatProblem, type Problem } from "../../spec/problem.ts";
import { resolveJobs } from "../../spec/resolve.ts";
import { loadCluster } from "../../spec/resolve-cluster.ts";
import type { ClusterShape } from "../cluster-file.ts";
import { packageRoot } from "../package-root.ts";

export interface ExampleJob {
  readonly definition: JobDefinition;
  readonly digest: string;
}

export interface Example {
  readonly folder: string;
  readonly ledgerSchema: string;
  readonly cluster: ClusterDefinition;
  readonly shape: ClusterShape;
  readonly jobs: readonly JobDefinition[];
}

/** The jobs that the demo knows by name; the others are taken as they come. */
export const settlementJob = "settlement";
export const payoutJob = "bonus-payout";

/** @throws E_UNAVAILABLE when the folder is missing, E_BAD_DATA when a file in it is wrong */
export async function readExample(): Promise<Example> {
  const root = packageRoot();
  const folder = root === undefined ? undefined : join(root, "examples/settlement");
  if (root === undefined || folder === undefined || !existsSync(folder)) {
    throw new EscapementError("E_UNAVAILABLE", {
      what: "examples/settlement is not beside this program",
      hint: "run it from a checkout or from the installed package",
    });
  }
  const { cluster, problems } = await loadCluster(join(folder, "cluster.yaml"));
  const loaded = await loadFiles([join(folder, "jobs")]);
  const resolved = resolveJobs(loaded.documents, cluster ? { cluster } : {});
  refuse([...problems, ...loaded.problems, ...resolved.problems]);
  const jobs = resolved.jobs.map(({ definition }) => ({
    ...definition,
    ...(definition.workingDirectory === undefined
      ? {}
      : { workingDirectory: resolve(root, definition.workingDirectory) }),
  }));
  return {
    folder,
    ledgerSchema: join(folder, "ledger.sql"),
    cluster: cluster!,
    shape: shapeOf(cluster!),
    jobs,
  };
}

/** A job by its name, whatever its namespace. @throws E_BAD_DATA */
export function exampleJob(jobs: readonly JobDefinition[], name: string): JobDefinition {
  const found = jobs.find((job) => job.name === name);
  if (found) return found;
  throw new EscapementError("E_BAD_DATA", {
    what: `examples/settlement has no job ${name}`,
    hint: "the demo needs it; put its file back",
  });
}

/** Puts in the addresses of this run and its heavy supplier. */
export function adaptJobs(
  jobs: readonly JobDefinition[],
  run: { readonly ledgerUrl: string; readonly payoutUrl: string; readonly heavySupplier: string },
): ExampleJob[] {
  return jobs.map((job) => {
    const environment = { ...job.environment };
    if ("LEDGER_URL" in environment) environment.LEDGER_URL = run.ledgerUrl;
    if ("PAYOUT_URL" in environment) environment.PAYOUT_URL = run.payoutUrl;
    const { shards } = job;
    const definition: JobDefinition = {
      ...job,
      environment,
      shards:
        shards.by === "hash" && shards.heavy.length > 0 ? { ...shards, heavy: [run.heavySupplier] } : shards,
    };
    return { definition, digest: digest(definition) };
  });
}

function shapeOf({ scheduler, executor, catchUp }: ClusterDefinition): ClusterShape {
  return {
    schedulers: scheduler.nodes.length,
    executors: executor.nodes.length,
    slots: executor.nodes[0]!.slots,
    scheduler: {
      ...leaseFields(scheduler),
      lookAhead: formatDuration(scheduler.lookAheadMs),
      maxSleep: formatDuration(scheduler.maxSleepMs),
    },
    executor: { ...leaseFields(executor), grace: formatDuration(executor.graceMs) },
    catchUpShare: catchUp.share,
  };
}

function leaseFields({ leaseMs, renewEveryMs, stopEarlyMs }: LeaseSettings): Record<string, string> {
  return {
    lease: formatDuration(leaseMs),
    renewEvery: formatDuration(renewEveryMs),
    stopEarly: formatDuration(stopEarlyMs),
  };
}

function refuse(problems: readonly Problem[]): void {
  const first = problems[0];
  if (!first) return;
  throw new EscapementError("E_BAD_DATA", {
    what: formatProblem(first),
    hint: "escapement jobs check examples/settlement shows every problem",
  });
}
