/** The files of a good cluster, as they are after reading. */
import type { ClusterDefinition } from "../../src/spec/cluster-definition.ts";
import type { HostTarget, InventoryDefinition, InventoryHost } from "../../src/spec/inventory-definition.ts";
import type { WatchDefinition } from "../../src/spec/watch-definition.ts";

const http = { address: "127.0.0.1", port: 7071 };
const lease = { leaseMs: 15_000, renewEveryMs: 5_000, stopEarlyMs: 3_000 };

export const goodCluster: ClusterDefinition = {
  name: "payments",
  store: { from: "env", urlEnv: "ESCAPEMENT_STORE_URL" },
  scheduler: {
    ...lease,
    lookAheadMs: 120_000,
    maxSleepMs: 1_000,
    clockLeaveMs: 500,
    clockRefuseMs: 1_000,
    nodes: [
      { name: "scheduler-1", http },
      { name: "scheduler-2", http },
    ],
  },
  executor: {
    ...lease,
    isolation: "none",
    graceMs: 5_000,
    nodes: [1, 2].map((n) => ({
      name: `executor-${n}`,
      slots: { cpu: 4, memory: 4, io: 4, control: 0 },
      workDirectory: "/var/lib/escapement/work",
    })),
  },
  catchUp: { share: 0.5 },
  records: { retentionMonths: 13 },
  logs: { directory: "/var/log/escapement", maxFileBytes: 1e7, keepFiles: 5 },
};

/** Name and failure domain of every host of {@link goodInventory}. */
export const goodDomains: Readonly<Record<string, string>> = {
  "db-1": "room-1",
  "sched-1": "room-1",
  "sched-2": "room-2",
  "exec-1": "room-1",
  "exec-2": "room-2",
  "watch-1": "room-3",
};

export const goodInventory: InventoryDefinition = inventoryOf(goodDomains);

export function inventoryOf(domains: Readonly<Record<string, string>>): InventoryDefinition {
  return {
    name: "payments",
    file: "/nowhere/inventory.yaml",
    format: "escapement",
    cluster: "payments",
    settings: {},
    hosts: Object.entries(domains).map(
      ([name, failureDomain], i): InventoryHost => ({
        name,
        failureDomain,
        settings: {},
        settingPlace: () => undefined,
        target: targetOf(name),
        file: "inventory.yaml",
        line: 3 + i,
        column: 5,
      }),
    ),
    notes: [],
  };
}

function targetOf(host: string): HostTarget {
  return {
    host,
    address: "127.0.0.1",
    port: 22,
    user: "root",
    identityFiles: [],
    knownHostsFiles: [],
    jump: [],
    connectTimeoutMs: 1_000,
  };
}

export const goodWatch = {
  name: "watchman",
  everyMs: 10_000,
  http: { address: "0.0.0.0", port: 7075 },
  rules: {},
  channels: [
    { name: "pager", type: "exec", command: ["true"], folder: "/", timeoutMs: 1_000 },
    { name: "mail", type: "exec", command: ["true"], folder: "/", timeoutMs: 1_000 },
  ],
  thresholds: { clockWarn: 100, clockCritical: 500, clockRefuse: 1_000, successPeriods: 1.5 },
  routes: [{ match: {}, channels: ["pager", "mail"], fallback: [] }],
  heartbeat: { url: { from: "plain", value: "http://127.0.0.1:9/" }, everyMs: 60_000, timeoutMs: 1_000 },
  testAlert: { cron: "0 9 * * 1", zone: "UTC", withinMs: 300_000 },
} as unknown as WatchDefinition;
