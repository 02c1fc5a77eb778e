/** Reads everything that is written about the cluster: jobs, cluster, hosts, watch, waivers. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import type { CheckedDefinitions, Located } from "../../checklist/context.ts";
import type { Scope } from "../../checklist/item.ts";
import { closest } from "../../spec/closest.ts";
import type { ResolvedJob } from "../../spec/definitions.ts";
import { digest } from "../../spec/digest.ts";
import { loadInventory } from "../../spec/load-inventory.ts";
import { loadWaivers, type Waiver } from "../../spec/load-waivers.ts";
import type { Position } from "../../spec/problem.ts";
import { readWatchFile } from "../../watchman/watch-file.ts";
import { requireCluster } from "../cluster-file.ts";
import { readJobFiles } from "../jobs/job-files.ts";
import { failOnProblems } from "../problems.ts";
import { filesOf, namedByJobs, present } from "./read-files.ts";
import { type CheckedCommit, findRepository, isAsCommitted, pathFrom } from "./repository.ts";

export interface DefinitionOptions {
  readonly cluster?: string;
  readonly inventory?: string;
  readonly profiles?: readonly string[];
  readonly watch?: string;
  readonly waivers?: string;
  readonly job?: string;
  readonly commit?: string;
}

export interface ReadDefinitions {
  readonly definitions: CheckedDefinitions;
  readonly waivers: readonly Waiver[];
  readonly commit: CheckedCommit;
  readonly clusterName: string;
  /** Where a scope is written, for people who mend it; always inside the repository. */
  locate(scope: Scope): { readonly file: string; readonly line: number };
}

/**
 * Problems of job files are left to the items and to the gate; of the other
 * files they end the run.
 * @throws E_SPEC_INVALID, E_USAGE, E_JOB_UNKNOWN
 */
export async function readDefinitions(
  paths: readonly string[],
  options: DefinitionOptions,
): Promise<ReadDefinitions> {
  const cluster = options.cluster === undefined ? undefined : await requireCluster(options.cluster);
  const jobPaths = jobPathsOf(paths, options);
  const read = await readJobFiles(jobPaths, options.cluster);
  const inventoryFile = options.inventory ?? beside(options.cluster, "inventory.yaml");
  const watchFile = options.watch ?? beside(options.cluster, "watch.yaml");
  const loaded = inventoryFile === undefined ? undefined : await loadInventory(inventoryFile);
  const watched = watchFile === undefined ? undefined : await readWatchFile(watchFile);
  const waived = options.waivers === undefined ? undefined : await loadWaivers(options.waivers);
  failOnProblems([...(loaded?.problems ?? []), ...(watched?.problems ?? []), ...(waived?.problems ?? [])]);

  const named = [options.cluster, inventoryFile, watchFile, options.waivers].filter(
    (file) => file !== undefined,
  );
  const folders = [...jobPaths, ...(options.profiles ?? [])];
  const files = await filesOf({ named, folders });
  const { root, id, hasGit } = await findRepository(files, options.commit);
  const readLater = namedByJobs(root, read.jobs);
  // One that the commit has beside the cluster file, and nobody has here, would have been read.
  const taken = ["inventory.yaml", "watch.yaml"].map((name) => pathBeside(options.cluster, name));
  const missing = taken.filter((file) => !existsSync(file));
  const clean = hasGit ? await isAsCommitted(root, [...files, ...readLater, ...missing], folders) : null;
  const located = async <T>(definition: T, file: string): Promise<Located<T>> => ({
    definition,
    file: await pathFrom(root, file),
    line: 1,
  });
  const allJobs = await relativeTo(root, read.jobs);
  const definitions: CheckedDefinitions = {
    root,
    jobs: chooseJobs(allJobs, options.job),
    allJobs,
    problems: await relativeTo(root, read.problems),
    ...(cluster && { cluster: await located(cluster, options.cluster!) }),
    ...(loaded?.inventory && { inventory: await located(loaded.inventory, inventoryFile!) }),
    ...(watched?.watch && { watch: await located(watched.watch, watchFile!) }),
    digest: await digestOf(root, [...new Set([...files, ...present(readLater)])]),
  };
  const waivers = await Promise.all(
    (waived?.waivers ?? []).map(async (waiver) => ({
      ...waiver,
      at: { ...waiver.at, file: await pathFrom(root, waiver.at.file) },
    })),
  );
  const clusterName = cluster?.name ?? loaded?.inventory?.cluster ?? "cluster";
  const home = await pathFrom(root, files[0]!);
  return {
    definitions,
    waivers,
    commit: { id, clean },
    clusterName,
    locate: (scope) => placeOf(scope, definitions, home),
  };
}

/** Named ones; else the folder `jobs` beside the cluster file. @throws E_USAGE */
function jobPathsOf(paths: readonly string[], { cluster }: DefinitionOptions): readonly string[] {
  if (paths.length > 0) return paths;
  const folder = beside(cluster, "jobs");
  if (folder !== undefined) return [folder];
  throw new EscapementError("E_USAGE", {
    what: "no job files are named, and there is no folder jobs beside the cluster file",
  });
}

/** A file of this name beside the cluster file, or here when none was named. */
function beside(cluster: string | undefined, name: string): string | undefined {
  const file = pathBeside(cluster, name);
  return existsSync(file) ? file : undefined;
}

function pathBeside(cluster: string | undefined, name: string): string {
  return join(cluster === undefined ? "." : dirname(cluster), name);
}

/** @throws E_JOB_UNKNOWN */
function chooseJobs(jobs: readonly ResolvedJob[], wanted: string | undefined): readonly ResolvedJob[] {
  if (wanted === undefined) return jobs;
  const whole = wanted.includes("/") ? wanted : `default/${wanted}`;
  const nameOf = ({ definition: { namespace, name } }: ResolvedJob) => `${namespace}/${name}`;
  const found = jobs.filter((job) => nameOf(job) === whole);
  if (found.length > 0) return found;
  const near = closest(whole, jobs.map(nameOf));
  throw new EscapementError("E_JOB_UNKNOWN", {
    job: wanted,
    suggestion: near === undefined ? "" : `; did you mean ${near}?`,
  });
}

async function relativeTo<T extends Position>(root: string, items: readonly T[]): Promise<T[]> {
  return Promise.all(items.map(async (item) => ({ ...item, file: await pathFrom(root, item.file) })));
}

/** Over names and contents, so that it is the same in every place where the repository is checked out. */
async function digestOf(root: string, files: readonly string[]): Promise<string> {
  const sums: Record<string, string> = {};
  for (const file of files)
    sums[await pathFrom(root, file)] = createHash("sha256")
      .update(await readFile(resolve(file)).catch(() => "unreadable"))
      .digest("hex");
  return digest(sums);
}

function placeOf({ kind, name }: Scope, definitions: CheckedDefinitions, home: string) {
  const { allJobs, inventory, cluster } = definitions;
  const job = allJobs.find(
    ({ definition }) =>
      kind === "job" && [`${definition.namespace}/${definition.name}`, definition.name].includes(name),
  );
  const host = kind === "host" ? inventory?.definition.hosts.find((one) => one.name === name) : undefined;
  const place =
    job ?? (host && inventory ? { file: inventory.file, line: host.line } : (cluster ?? inventory));
  const { file, line } = place ?? { file: home, line: 1 };
  // Reports may name places in the repository only.
  return { file: file.startsWith("..") ? file.replace(/^.*\//, "") : file, line: Math.max(1, line) };
}
