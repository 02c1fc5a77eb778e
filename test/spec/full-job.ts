/** A job file with every field, as the values that a test may change before it writes them. */
export function fullJob() {
  return {
    apiVersion: "escapement/v1",
    kind: "Job",
    metadata: { name: "settlement", namespace: "finance" },
    spec: {
      description: "Recomputes one month of supplier settlements.",
      command: ["node", "settle.mjs", "--whole"],
      workingDirectory: "/opt/finance",
      environment: { CURRENCY: "EUR" },
      schedule: { cron: "0 2 1 * *" },
      timeZone: "Europe/Berlin",
      dstGap: "run-at-transition",
      dstOverlap: "first",
      period: { unit: "month", offset: -1 },
      misfire: { policy: "within-window", threshold: "1m", window: "6h" },
      blocking: { policy: "queue", maxQueued: 2 },
      catchUp: { maxFires: 3, keep: "oldest" },
      retry: { maxAttempts: 4, delays: ["1m", "5m", "30m"] },
      lease: "30s",
      timeout: "20m",
      shards: { by: "hash", count: 32, key: "supplier_id", heavy: ["S-0001"] },
      resources: { class: "cpu", peakMemory: "512MiB" },
      effects: [
        {
          kind: "table",
          target: "finance.settlement",
          key: ["supplier_id", "month"],
          mode: "replace",
          sources: ["settle.mjs"],
        },
      ],
      onStoreLoss: "kill",
    },
  };
}
