/** Which definition and which pause count at which instant, to the millisecond. */
import { expect, test } from "vitest";
import {
  definitionAt,
  expectedFires,
  nextExpected,
  periodAt,
  usualPeriodAt,
} from "../../src/watchman/expected-fires.ts";
import { pausesFrom } from "../../src/watchman/job-memory.ts";
import type { WatchedDefinition } from "../../src/watchman/picture.ts";

const at = (text: string) => Date.parse(`2026-07-01T${text}Z`);
const base = {
  ...{
    version: 1,
    digest: "d",
    appliedBy: "sam",
    timeZone: "UTC",
    timeoutMs: 1,
    leaseMs: 1,
    retry: { maxAttempts: 1 },
  },
  misfire: { policy: "run-now" as const, thresholdMs: 1 },
  blocking: { policy: "allow" as const },
};
const every = (minutes: number, from: string): WatchedDefinition => ({
  ...base,
  effectiveFrom: new Date(at(from)),
  schedule: { kind: "every", everyMs: minutes * 60_000 },
});
const job = {
  definitions: [every(60, "00:00:00"), every(30, "03:00:00")],
  pauses: [{ from: new Date(at("05:10:00")), to: new Date(at("06:00:00")) }],
  ...{ knownSince: new Date(at("00:00:00")), state: "active" as const, stateSince: new Date(at("00:00:00")) },
};
const times = (fires: readonly number[]) => fires.map((ms) => new Date(ms).toISOString().slice(11, 16));

test("a fire at the very instant of an edit belongs to the definition before it", () => {
  expect(times(expectedFires(job, at("01:00:00"), at("04:00:00")))).toEqual([
    "02:00",
    "03:00",
    "03:30",
    "04:00",
  ]);
  expect(definitionAt(job, at("03:00:00"))).toBe(job.definitions[0]);
  expect(definitionAt(job, at("03:00:00") + 1)).toBe(job.definitions[1]);
  expect(periodAt(job, at("03:00:00"))).toBe(3_600_000);
  expect(periodAt(job, at("03:30:00"))).toBe(1_800_000);
  expect(usualPeriodAt(job, at("04:00:00"))).toBe(1_800_000);
});

test("nothing is expected before a job is known, nor in a pause with both its ends", () => {
  expect(times(expectedFires(job, at("00:00:00") - 7_200_000, at("01:00:00")))).toEqual(["01:00"]);
  expect(times(expectedFires(job, at("04:30:00"), at("07:00:00")))).toEqual(["05:00", "06:30", "07:00"]);
  expect(nextExpected(job, at("05:00:00"), at("06:00:00"))).toBeNull();
});

test("the pauses of a job follow from what people did, and from its state where a record is missing", () => {
  const change = (time: string, action: "jobs pause" | "jobs resume" | "jobs delete") => ({
    at: new Date(at(time)),
    action,
  });
  const since = new Date(at("09:00:00"));
  const active = { state: "active", stateSince: since } as const;
  const paused = { state: "paused", stateSince: since } as const;
  const [one, two] = [new Date(at("01:00:00")), new Date(at("02:00:00"))];
  expect(pausesFrom([change("01:00:00", "jobs pause"), change("02:00:00", "jobs resume")], active)).toEqual([
    { from: one, to: two },
  ]);
  expect(pausesFrom([change("01:00:00", "jobs pause")], paused)).toEqual([{ from: one, to: null }]);
  expect(pausesFrom([change("01:00:00", "jobs pause")], active)).toEqual([{ from: one, to: since }]);
  expect(pausesFrom([], paused)).toEqual([{ from: since, to: null }]);
});
