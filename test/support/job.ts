/** Job definitions for tests: a whole one, with what a test cares about laid over it. */
import { digest } from "../../src/spec/digest.ts";
import type { JobDefinition } from "../../src/spec/job-definition.ts";

/** Fires only by hand unless a schedule is given; nothing of it is ever late enough to be a misfire unless asked for. */
export function testJob(name: string, change: Partial<JobDefinition> = {}): JobDefinition {
  return {
    namespace: "default",
    name,
    command: ["true"],
    environment: {},
    schedule: { kind: "manual" },
    timeZone: "UTC",
    misfire: { policy: "run-now", thresholdMs: 86_400_000 },
    blocking: { policy: "allow" },
    catchUp: { maxFires: 10, keep: "oldest" },
    retry: { maxAttempts: 3, delaysMs: [0] },
    leaseMs: 15_000,
    timeoutMs: 60_000,
    shards: { by: "none" },
    resources: { class: "cpu", peakMemoryBytes: 1 },
    effects: [],
    onStoreLoss: "kill",
    ...change,
  };
}

/** So many shards by hash. */
export function hashed(count: number): Pick<JobDefinition, "shards"> {
  return { shards: { by: "hash", count, key: "id", heavy: [] } };
}

/** The digest `jobs apply` would write. */
export function digestOf(definition: JobDefinition): string {
  return digest(definition);
}
