/** A cluster document becomes a definition: names with units, paths absolute. */
import { dirname, resolve } from "node:path";
import type { ClusterDefinition, StoreLocation } from "./cluster-definition.ts";
import type { ClusterDocument } from "./cluster-schema.ts";
import type { ResolvedCluster } from "./definitions.ts";
import { documentsOf, type LoadedDocument, loadFiles } from "./load.ts";
import type { Problem } from "./problem.ts";

/** Relative paths in the file are taken from the folder of the file. */
export function resolveCluster(
  document: LoadedDocument<"Cluster"> & { readonly value: ClusterDocument },
): ResolvedCluster {
  const { file, line, column, value } = document;
  return { definition: define(value, dirname(resolve(file))), file, line, column };
}

/** Reads the one cluster of a file, for the programs that are started with `--cluster FILE`. Never throws. */
export async function loadCluster(
  file: string,
): Promise<{ readonly cluster: ClusterDefinition | undefined; readonly problems: readonly Problem[] }> {
  const { documents, problems } = await loadFiles([file]);
  const clusters = documents.filter(({ kind }) => kind === "Cluster");
  if (problems.length > 0) return { cluster: undefined, problems };
  const [first, second] = documentsOf(clusters, "Cluster");
  if (first && !second) return { cluster: resolveCluster(first).definition, problems };
  const at = second ?? { file, line: 0, column: 0 };
  const message = second
    ? "is a second kind: Cluster; name a file with one"
    : "has no document of kind: Cluster";
  return {
    cluster: undefined,
    problems: [{ file: at.file, line: at.line, column: at.column, path: "", message }],
  };
}

function define({ metadata, spec }: ClusterDocument, folder: string): ClusterDefinition {
  const { scheduler, executor } = spec;
  return {
    name: metadata.name,
    ...(spec.description !== undefined && { description: spec.description }),
    store: storeOf(spec.store, folder),
    scheduler: {
      leaseMs: scheduler.lease,
      renewEveryMs: scheduler.renewEvery,
      stopEarlyMs: scheduler.stopEarly,
      lookAheadMs: scheduler.lookAhead,
      maxSleepMs: scheduler.maxSleep,
      clockLeaveMs: scheduler.clockLeave,
      clockRefuseMs: scheduler.clockRefuse,
      ...(scheduler.virtualAddress !== undefined && { virtualAddress: scheduler.virtualAddress }),
      nodes: scheduler.nodes,
    },
    executor: {
      leaseMs: executor.lease,
      renewEveryMs: executor.renewEvery,
      stopEarlyMs: executor.stopEarly,
      graceMs: executor.grace,
      isolation: executor.isolation,
      nodes: executor.nodes.map(({ name, slots, http, workDirectory }) => ({
        name,
        slots,
        ...(http !== undefined && { http }),
        workDirectory: resolve(folder, workDirectory),
      })),
    },
    catchUp: spec.catchUp,
    records: spec.records,
    logs: {
      directory: resolve(folder, spec.logs.directory),
      maxFileBytes: spec.logs.maxFile,
      keepFiles: spec.logs.keepFiles,
    },
  };
}

function storeOf(store: ClusterDocument["spec"]["store"], folder: string): StoreLocation {
  if (store.url !== undefined) return { from: "url", url: store.url };
  if (store.urlFile !== undefined) return { from: "file", urlFile: resolve(folder, store.urlFile) };
  return { from: "env", urlEnv: store.urlEnv! };
}
