/** What the watchman's rules judge by, and the limits of single jobs. */
import { z } from "zod";
import { duration, size, text, wholeNumber } from "./scalar-schema.ts";

const longestMs = 366 * 86_400_000;
const span = (what: string, value: string, min = 1) =>
  duration(what, { min, max: longestMs }).prefault(value);
const share = (what: string, value: number) => z.number().min(0).max(1).describe(what).default(value);

export const thresholds = z
  .strictObject({
    successPeriods: z
      .number()
      .min(1)
      .max(10)
      .describe("A success is due this many periods after the one before.")
      .default(1.5),
    openWithin: span("A fire must be open this long after its time.", "1m"),
    leaderAbsent: span("Somebody must lead within this time.", "1m"),
    lateStart: span("A start later than this is late.", "5m"),
    atRiskAhead: span("How far ahead a deadline at risk is told.", "30m"),
    fastShare: share("A success in less than this share of the usual time is suspicious.", 0.1),
    fewRowsShare: share("A success with less than this share of the usual rows is suspicious.", 0.2),
    nearPeriodShare: share("A duration above this share of the period is too near to it.", 0.8),
    leaseOverdue: span("A lease that ended this long ago should have been reaped.", "1m"),
    reclaims: wholeNumber(2, 100, "A shard taken back from dead executors this often is in a loop.").default(
      3,
    ),
    silent: span("A process that has said nothing for this long is silent.", "1m"),
    failedFor: span("How long a failed execution without a rerun stays an alert.", "3d"),
    editedFor: span("How long an edited schedule is shown.", "1h"),
    clockWarn: span("A clock this far off is a warning.", "100ms"),
    clockCritical: span("A clock this far off is critical.", "500ms"),
    clockRefuse: span("A scheduler this far off does not lead while another one can.", "1s"),
    backlogFor: span("The backlog must have grown for this long.", "10m"),
    backlogPerSlot: wholeNumber(1, 10_000, "And to this many waiting shards for each slot.").default(4),
    replicaLag: span("A replica may be this far behind in time.", "1m"),
    replicaLagSize: size("And this far behind in write-ahead log.").prefault("64MiB"),
    xminAge: span("A transaction may keep dead rows this long.", "30m"),
    storeDiskWarn: share("Free share of a disk of the store's host that is a warning.", 0.2),
    storeDiskCritical: share("Free share of a disk of the store's host that is critical.", 0.1),
    storeDiskStale: span("A report of those disks counts for this long.", "5m"),
    virtualAddressAbsent: span("Somebody must hold the virtual address within this time.", "1m"),
    timeSources: wholeNumber(1, 100, "A host's time daemon must reach this many sources.").default(2),
    storeFull: size("The record store may grow to this size; not given: not judged.").optional(),
  })
  .describe("What the rules judge by.")
  .prefault({});

export const jobLimits = z.strictObject({
  job: text("namespace/name of a job. A * stands for any characters."),
  grace: span("Added to the time by which a success is expected.", "1m", 0),
  deadline: duration("A fire must have ended with success this long after its time.", {
    min: 1_000,
    max: longestMs,
  }).optional(),
});
