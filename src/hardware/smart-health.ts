/** What counters of a drive mean, whichever tool printed them. */
import { type Fact, fromValue, known, type ListFact, listFact, unknown } from "../base/fact.ts";

export interface AtaAttribute {
  readonly id: number;
  readonly name: string;
  readonly value: number;
  readonly threshold: number;
  readonly raw: number | undefined;
  /** At or below its threshold now. */
  readonly isFailing: boolean;
}

/** Sectors that were or will be lost: any count above zero stands against the drive. */
const lostSectors: Readonly<Record<number, string>> = {
  5: "sectors moved to spares",
  187: "uncorrectable errors reported",
  197: "sectors waiting to be moved",
  198: "sectors that could not be read",
};

/** Read-out of a drive; undefined: not printed. */
export interface SmartCounters {
  readonly passed?: boolean | undefined;
  readonly attributes?: readonly AtaAttribute[] | undefined;
  readonly nvme?:
    | {
        readonly criticalWarning: number | undefined;
        readonly mediaErrors: number | undefined;
        readonly spare: number | undefined;
        readonly spareThreshold: number | undefined;
        readonly percentUsed: number | undefined;
      }
    | undefined;
  readonly scsi?:
    | { readonly uncorrected: readonly (number | undefined)[]; readonly grownDefects: number | undefined }
    | undefined;
  /** Bits of smartctl's exit status; undefined: unknown. */
  readonly exitStatus?: number | undefined;
  readonly errorLogCount?: number | undefined;
}

/** Everything that stands against a drive, in words. Known only where the counters of its kind are all there. */
export function problemsOf(counters: SmartCounters, isWhole: boolean, reason: string): ListFact<string> {
  const problems: string[] = [];
  let isComplete = isWhole && counters.passed !== undefined;
  if (counters.passed === false) problems.push("the drive says of itself that it fails");
  const { attributes, nvme, scsi, exitStatus } = counters;
  for (const one of attributes ?? []) {
    if (one.isFailing) problems.push(`${one.name} is at ${one.value}, its threshold is ${one.threshold}`);
    const meaning = Object.hasOwn(lostSectors, one.id) ? lostSectors[one.id] : undefined;
    if (meaning && one.raw === undefined) isComplete = false;
    // Vendors pack more into a raw value; its low 32 bits are the count.
    const count = one.raw === undefined ? 0 : one.raw % 2 ** 32;
    if (meaning && count > 0) problems.push(`${count} ${meaning} (${one.name})`);
  }
  if (nvme) {
    const { criticalWarning, mediaErrors, spare, spareThreshold, percentUsed } = nvme;
    if (criticalWarning) problems.push(`critical warning 0x${criticalWarning.toString(16).padStart(2, "0")}`);
    if (mediaErrors) problems.push(`${mediaErrors} media errors`);
    if (spare !== undefined && spareThreshold !== undefined && spare <= spareThreshold)
      problems.push(`${spare} % spare blocks left, the threshold is ${spareThreshold} %`);
    if (percentUsed !== undefined && percentUsed >= 100)
      problems.push(`${percentUsed} % of its rated life used`);
    if ([criticalWarning, mediaErrors, spare, spareThreshold, percentUsed].includes(undefined))
      isComplete = false;
  }
  if (scsi) {
    const uncorrected = scsi.uncorrected.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    if (uncorrected > 0) problems.push(`${uncorrected} errors that could not be corrected`);
    if (scsi.grownDefects) problems.push(`${scsi.grownDefects} defects grown since it was made`);
    if (
      scsi.uncorrected.length === 0 ||
      scsi.uncorrected.includes(undefined) ||
      scsi.grownDefects === undefined
    )
      isComplete = false;
  }
  if (!nvme && !scsi && !(attributes && attributes.length > 0)) isComplete = false;
  if (exitStatus !== undefined && exitStatus & 8 && counters.passed !== false)
    problems.push("smartctl calls the drive failing");
  if (exitStatus !== undefined && exitStatus & 64) problems.push("the drive's error log holds errors");
  if (exitStatus !== undefined && exitStatus & 128) problems.push("the last self-test of the drive failed");
  return listFact(problems, isComplete, reason);
}

/**
 * A drive that tests its capacitors counts that test in attribute 175, 201 or
 * 235; the same numbers mean other things elsewhere, so the name must say it too.
 */
export function powerLossProtectionOf(attributes: readonly AtaAttribute[]): Fact<boolean> {
  const test = attributes.find(
    (one) => [175, 201, 235].includes(one.id) && /power.?loss.?(cap|protect)|plp/i.test(one.name),
  );
  if (!test) return unknown("the drive counts no test of its capacitors");
  return known(!test.isFailing && test.value > test.threshold);
}

export function wear(percentUsed: number | undefined): Fact<number> {
  return fromValue(percentUsed, "the drive counts no wear");
}
