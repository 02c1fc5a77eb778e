/** A plain job definition for benchmarks. */
import type { JobDefinition } from "../src/spec/job-definition.ts";

export function benchJob(name: string, shards: number): JobDefinition {
  return {
    namespace: "default",
    name,
    command: ["true"],
    environment: {},
    schedule: { kind: "manual" },
    timeZone: "UTC",
    misfire: { policy: "run-now", thresholdMs: 86_400_000 },
    blocking: { policy: "allow" },
    catchUp: { maxFires: 0, keep: "oldest" },
    retry: { maxAttempts: 3, delaysMs: [1_000] },
    leaseMs: 15_000,
    timeoutMs: 60_000,
    shards: shards === 1 ? { by: "none" } : { by: "hash", count: shards, key: "id", heavy: [] },
    resources: { class: "cpu", peakMemoryBytes: 1 },
    effects: [],
    onStoreLoss: "kill",
  };
}
