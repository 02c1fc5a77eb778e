/** The `kind: Cluster` file of a local cluster: made here, or a given one that fits. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EscapementError } from "../base/errors.ts";
import type { ClusterDefinition } from "../spec/cluster-definition.ts";
import { loadCluster } from "../spec/resolve-cluster.ts";
import { freePort } from "./free-port.ts";

export interface ClusterShape {
  readonly schedulers: number;
  readonly executors: number;
  /** Attempts at once of each class, for each executor. */
  readonly slots: { readonly cpu: number; readonly memory: number; readonly io: number };
  /** Fields of `spec.scheduler` as the file writes them, for example `{ lease: "2s", renewEvery: "500ms", stopEarly: "500ms" }`. */
  readonly scheduler: Readonly<Record<string, string>>;
  /** The same for `spec.executor`. */
  readonly executor: Readonly<Record<string, string>>;
  readonly catchUpShare: number;
}

/** Each node reads the store's URL from here, because each has its own way to the store. */
export const storeUrlVariable = "ESCAPEMENT_STORE_URL";

const defaultShape: ClusterShape = {
  schedulers: 2,
  executors: 3,
  slots: { cpu: 4, memory: 2, io: 4 },
  scheduler: {},
  executor: {},
  catchUpShare: 0.5,
};

/**
 * Reads `clusterFile`, or writes a file of the given shape into `directory` and reads that.
 * @throws E_BAD_DATA when it is not valid, or names its store in another way than by {@link storeUrlVariable}
 */
export async function readyClusterFile(
  directory: string,
  options: Partial<ClusterShape> & { readonly clusterFile?: string },
): Promise<{ readonly file: string; readonly definition: ClusterDefinition }> {
  const file =
    options.clusterFile === undefined ? join(directory, "cluster.yaml") : resolve(options.clusterFile);
  if (options.clusterFile === undefined) writeFileSync(file, await textOf({ ...defaultShape, ...options }));
  const { cluster, problems } = await loadCluster(file);
  const first = problems[0];
  if (!cluster || first) {
    throw new EscapementError("E_BAD_DATA", {
      what: `${file}: ${first ? `${first.path} ${first.message}` : "no cluster"}`,
      hint: "escapement jobs check FILE shows every problem",
    });
  }
  if (cluster.store.from !== "env" || cluster.store.urlEnv !== storeUrlVariable) {
    throw new EscapementError("E_BAD_DATA", {
      what: `${file}: the lab gives every node its own way to the store`,
      hint: `write spec.store: { urlEnv: ${storeUrlVariable} }`,
    });
  }
  return { file, definition: cluster };
}

/** Nodes are called `scheduler-1…` and `executor-1…`. Written as JSON, which is YAML as well. */
async function textOf(shape: ClusterShape): Promise<string> {
  const taken = new Set<number>();
  const http = async () => {
    let port = await freePort();
    while (taken.has(port)) port = await freePort();
    taken.add(port);
    return { address: "127.0.0.1", port };
  };
  const schedulers = [];
  for (let n = 1; n <= shape.schedulers; n++) schedulers.push({ name: `scheduler-${n}`, http: await http() });
  const executors = [];
  for (let n = 1; n <= shape.executors; n++) {
    const name = `executor-${n}`;
    executors.push({ name, slots: shape.slots, http: await http(), workDirectory: `work/${name}` });
  }
  const cluster = {
    apiVersion: "escapement/v1",
    kind: "Cluster",
    metadata: { name: "lab" },
    spec: {
      description: "A throw-away cluster of local processes.",
      store: { urlEnv: storeUrlVariable },
      scheduler: { ...shape.scheduler, nodes: schedulers },
      executor: { ...shape.executor, nodes: executors },
      catchUp: { share: shape.catchUpShare },
      logs: { directory: "logs/jobs" },
    },
  };
  return `${JSON.stringify(cluster, null, 2)}\n`;
}
