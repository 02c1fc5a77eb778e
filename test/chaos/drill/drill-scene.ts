/** A local cluster with drill hosts before it, and drills short enough for a test. */
import { randomUUID } from "node:crypto";
import type { DrillResult } from "../../../src/chaos/drill/drill-report.ts";
import { runDrill } from "../../../src/chaos/drill/run-drill.ts";
import type { RunDrillOptions } from "../../../src/chaos/drill/run-options.ts";
import type { ClusterHost, HostPart } from "../../../src/chaos/plan/drilled-cluster.ts";
import { witnessJob } from "../../../src/chaos/witness.ts";
import { type ProcessCluster, startProcessCluster } from "../../../src/lab/process-cluster.ts";
import { digest } from "../../../src/spec/digest.ts";
import type { DrillDefinition, DrillVariant } from "../../../src/spec/drill-definition.ts";
import { loadCluster } from "../../../src/spec/resolve-cluster.ts";
import { Database } from "../../../src/store/database.ts";
import { FloatingAddress } from "./floating-address.ts";
import { ProcessDrillHost } from "./process-drill-host.ts";

/** Wide enough that two busy cores do not let it end by themselves. */
const lease = { lease: "4s", renewEvery: "1s", stopEarly: "1s" };

export interface SceneOptions {
  readonly clocks?: boolean;
}

export interface DrillScene {
  readonly cluster: ProcessCluster;
  readonly db: Database;
  readonly doors: ReadonlyMap<string, ProcessDrillHost>;
  readonly said: string[];
  /** Of the schedulers' hosts; `run` puts it where the leader is. */
  readonly address: FloatingAddress;
  options(variant: DrillVariant, change?: Partial<RunDrillOptions>): Promise<RunDrillOptions>;
  run(variant: DrillVariant, change?: Partial<RunDrillOptions>): Promise<DrillResult>;
  down(): Promise<void>;
}

export async function startScene({ clocks = false }: SceneOptions = {}): Promise<DrillScene> {
  const cluster = await startProcessCluster({
    schedulers: 2,
    executors: 3,
    slots: { cpu: 16, memory: 1, io: 1 },
    scheduler: { ...lease, lookAhead: "8s", maxSleep: "250ms" },
    executor: { ...lease, grace: "3s" },
    clocks,
    postgresSettings: { fsync: "off", shared_buffers: "32MB" },
    environment: { ESCAPEMENT_LOG_LEVEL: "warn" },
  });
  const db = new Database(cluster.storeUrl, { applicationName: "drill", queryTimeoutMs: 5_000 });
  const doors = new Map(cluster.nodes.map((node) => [node.name, new ProcessDrillHost(cluster, node)]));
  const address = new FloatingAddress(cluster, doors);
  const said: string[] = [];
  const { cluster: definition } = await loadCluster(cluster.clusterFile);
  const hosts: ClusterHost[] = cluster.nodes.map(({ name, role }) => ({
    name,
    addresses: [addressOf(name)],
    parts: [role satisfies HostPart],
    units: { [role]: `escapement-${role}.service` },
  }));
  for (const door of doors.values())
    door.answers = ({ address }) => {
      const [, peer] = [...doors].find(([name]) => addressOf(name) === address) ?? [];
      return peer === undefined ? "unknown" : door.isOpen && peer.isOpen ? "answers" : "silent";
    };
  const options: DrillScene["options"] = async (variant, change = {}) => {
    const drill = drillOf(variant);
    return {
      definition: drill,
      digest: digest(drill),
      variant,
      cluster: definition!,
      virtualAddress: address.address,
      hosts,
      named: [],
      connectHost: async ({ name }) => doors.get(name)!,
      db,
      probe: { command: ["bash", "--norc", "-c", witnessJob], address: "127.0.0.1" },
      person: "test",
      trigger: "manual",
      version: "0.0.0",
      controller: `test ${process.pid} ${randomUUID()}`,
      settleMs: 6_000,
      signal: new AbortController().signal,
      say: (line) => {
        said.push(line);
        if (process.env.DRILL_SAY) console.log(`  ${line}`);
      },
      ...change,
    };
  };
  return {
    cluster,
    db,
    doors,
    said,
    address,
    options,
    run: async (variant, change) => {
      await address.settle();
      return runDrill(await options(variant, change));
    },
    down: async () => {
      await Promise.all([...doors.values()].map((door) => door.halt()));
      await db.end();
      await cluster.down();
    },
  };
}

/** Of a host of the scene, for other hosts: it is a name that nobody connects to. */
function addressOf(name: string): string {
  return `${name}.scene`;
}

/** A drill with one variant, of the size of a test. */
export function drillOf(variant: DrillVariant): DrillDefinition {
  return {
    name: "test",
    class: "executor-killed",
    description: "A drill of a test.",
    steadyState: { standbyHealthy: true, offsetBelowMs: 500, backlogBelow: 500, noCriticalAlerts: false },
    load: { jobs: 2, everyMs: 1_000, shards: 2, shardMs: 4_000, obligations: 5 },
    abort: { backlogOver: 5_000, otherHostUnhealthy: true, freeBelowBytes: 0 },
    settle: { minimumMs: 6_000, quietReads: 2, readEveryMs: 500, deadlineMs: 120_000 },
    blastRadius: { hosts: 1, recordStore: false, awayFromPeakMs: 0 },
    variants: [variant],
  };
}

export function variantOf(
  change: Pick<DrillVariant, "name" | "target" | "fault" | "proof"> & Partial<DrillVariant>,
): DrillVariant {
  return {
    hold: { ms: 10_000 },
    limitAfterHoldMs: 10_000,
    ...change,
    pass: { allowedFailures: [], refusedStaleWrites: 0, culpritNamed: false, ...change.pass },
  };
}
