/** What the watchman's rules judge by, unless a job says otherwise. */
import { z } from "zod";
import { duration, size, wholeNumber } from "./scalar-schema.ts";

const span = (what: string, value: string, min = 0) =>
  duration(what, { min, max: 366 * 86_400_000 }).prefault(value);

export const thresholds = z
  .strictObject({
    missingFactor: z
      .number()
      .min(1)
      .max(10)
      .describe("A success must be there after this many times the gap between two fires.")
      .default(1.5),
    missingGrace: span("Added to that.", "60s"),
    notOpenedAfter: span("A fire must be opened this long after its time.", "60s"),
    noLeaderAfter: span("Somebody must lead within this time.", "60s"),
    lateStart: span("A start later than this is late.", "5m"),
    deadlineAhead: span("How far ahead a deadline at risk is told.", "30m"),
    fastFinish: z
      .number()
      .min(0)
      .max(1)
      .describe("A success in less than this part of the usual duration is suspicious.")
      .default(0.1),
    fewRows: z
      .number()
      .min(0)
      .max(1)
      .describe("A success with less than this part of the usual rows is suspicious.")
      .default(0.5),
    nearPeriod: z
      .number()
      .min(0.1)
      .max(1)
      .describe("A usual duration above this part of the gap between two fires is too close.")
      .default(0.8),
    reclaims: wholeNumber(2, 100, "A shard whose lease ended this often is in a loop.").default(3),
    clockWarn: span("A clock this far off is a warning.", "100ms", 1),
    clockCritical: span("A clock this far off is critical.", "500ms", 1),
    replicaBehind: span("A replica may be this far behind.", "60s", 1),
    xminHeld: span("A transaction may keep dead rows this long.", "30m", 1_000),
    storeFull: size("The record store may grow to this size; not given: not judged.").optional(),
  })
  .describe("What the rules judge by.")
  .prefault({});
