/**
 * The failure matrix: for each kind of failure what causes it, how it is found,
 * what keeps it away, and what it asks of the servers. docs/failure-matrix.md is
 * this table; `escapement diagnose --matrix` prints it.
 */
import type { FailureClass } from "./diagnosis.ts";

export interface FailureKind {
  readonly kind: string;
  /** The classes by which `diagnose` reports it. */
  readonly classes: readonly FailureClass[];
  readonly causes: readonly string[];
  readonly detection: readonly string[];
  readonly protection: readonly string[];
  readonly servers: readonly string[];
}

export const failureMatrix: readonly FailureKind[] = [
  {
    kind: "It never ran",
    classes: ["never-fired", "blocked", "late"],
    causes: [
      "one scheduler host and no second one",
      "no policy for what is late, so that a default decided",
      "a clock that stepped forward over the minute",
      "a cron expression that is wrong, or was edited to a time that does not exist",
      "a run that took longer than the period and kept the next one out",
      "a record store that was away, or whose disk was full",
      "a host that cannot run the job: its user, its program or room for its work is missing",
    ],
    detection: [
      "every fire of the schedule in force is compared with the execution rows; a row that is missing is a finding",
      "a watchman on another host asks for the last success, not for errors",
      "the watchman tells when nobody leads, when two hosts or none hold the virtual address, and when the store's disk fills",
    ],
    protection: [
      "two schedulers, one lease, fires planned ahead",
      "misfire, blocking and catch-up are written in every job file: run, skip, or run within a window",
      "catch-up one after the other, oldest first, capped in number and share",
    ],
    servers: [
      "two small scheduler hosts on separate power",
      "a time service with several sources, its offset and what it says of itself watched apart",
      "room on the disks of the record store, reported every minute",
      "no computing power worth mentioning",
    ],
  },
  {
    kind: "It was cut short",
    classes: ["interrupted"],
    causes: [
      "a timeout shorter than the work",
      "the kernel killed it for want of memory",
      "disks so busy that signs of life came too late",
      "the host or the executor was restarted",
    ],
    detection: [
      "an execution with a start, without an end, and nobody alive who holds it",
      "a number of attempts that grows",
    ],
    protection: [
      "shards of 2 to 10 minutes",
      "a lease that ends by itself in place of a lock that somebody must open",
      "a fence token that grows with every claim; an older one is refused",
      "SIGTERM gives the shard back at once",
    ],
    servers: [
      "memory for 1.5 times the peak of a job",
      "NVMe, so that a slow disk does not become a timeout",
      "no online service on the same disks at peak hours",
    ],
  },
  {
    kind: "It ran twice",
    classes: ["duplicate"],
    causes: [
      "several instances that all believe they may fire",
      "an executor taken for dead that was only slow",
      "a catch-up after a restart that met the regular run",
      "an old process that went on after its successor had begun",
    ],
    detection: [
      "refused writes with an old fence token",
      "two results for one business key",
      "more calls at the receiver than there are business events",
    ],
    protection: [
      "one row for (job, fire time) and one for (job, period), by unique constraints",
      "fence tokens in the job's own writes",
      "an idempotency key in every call to the outside; where the receiver ignores it, a ledger of calls",
      "whole results replaced in place of amounts added",
    ],
    servers: [
      "executors that keep nothing that may not be lost",
      "schedulers on other hosts than executors, so that load cannot delay a decision",
    ],
  },
  {
    kind: "It broke half-way",
    classes: ["partial"],
    causes: [
      "no transaction around what belongs together",
      "effects in a database, a queue and a remote service at once",
      "a killed process whose claims nobody took back",
    ],
    detection: [
      "failed, and rows or calls are there all the same",
      "items in processing whose lease has ended, growing in number",
    ],
    protection: [
      "the execution id first, the writes after",
      "work items that go from pending over processing to done, with a lease",
      "results computed anew and switched as a whole",
      "a sweep that takes back what nobody holds",
    ],
    servers: [
      "write caches with power-loss protection",
      "room and IOPS on the disks of the records, for a year at least",
    ],
  },
  {
    kind: "One shard failed",
    classes: ["shard-failed"],
    causes: [
      "one key that holds most of the data",
      "input that changed while it was cut into ranges",
      "bad rows in one part of the data",
    ],
    detection: [
      "one shard number failed with a growing attempt, the others succeeded",
      "a whole execution that is late for one shard",
    ],
    protection: [
      "cut by a hash of the business key, never by row number; frozen input where it must be ranges",
      "3 to 5 times as many shards as executors; heavy keys in shards of their own",
      "only what failed is run again, after growing pauses, up to a cap",
    ],
    servers: [
      "executors that can be added side by side, together with shards",
      "IOPS on the record store for shards times executions small transactions",
    ],
  },
];

const parts = {
  causes: "What it comes from",
  detection: "How it is found",
  protection: "What keeps it away",
  servers: "What it asks of the servers",
} as const;

/** The matrix as plain text that is Markdown, too: one section a kind. */
export function matrixText(): string {
  return failureMatrix
    .map((kind) => {
      const classes = kind.classes.map((name) => `\`${name}\``).join(", ");
      const lists = (Object.keys(parts) as (keyof typeof parts)[]).map(
        (part) => `${parts[part]}:\n\n${kind[part].map((line) => `- ${line}`).join("\n")}`,
      );
      return [`## ${kind.kind}`, `Reported as ${classes}.`, ...lists].join("\n\n");
    })
    .join("\n\n");
}
