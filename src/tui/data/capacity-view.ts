/**
 * Growth and room, computed from sizes.
 *
 * Measured: what the month that runs has taken so far, over the days that it has
 * run. Forecast: the fires of the last 24 hours, times what a fire took in the
 * largest whole month. Pure.
 */
import type { MonthSize, StoreSize } from "../../store/ui/records-look.ts";
import { allOf } from "./day.ts";
import type { JobsView } from "./jobs-view.ts";

export interface CapacityView extends Pick<StoreSize, "databaseBytes" | "retentionMonths"> {
  readonly recordBytes: number;
  /** Newest first. */
  readonly months: readonly MonthSize[];
  readonly firesPerDay: number | null;
  readonly measuredPerDay: number | null;
  readonly measuredFrom: string;
  readonly forecastPerDay: number | null;
  readonly forecastFrom: string;
  /** Measured against forecast: 0.1 is ten per cent more. */
  readonly difference: number | null;
  /** All months that are kept, at the greater of the two rates. */
  readonly keptBytes: number | null;
  readonly disks: readonly (StoreSize["disks"][number] & { readonly daysLeft: number | null })[];
}

const dayMs = 86_400_000;
/** Empty partitions have a page or two each. */
const countsFrom = 100;

/** @param hour hours since 1970, by the store's clock */
export function capacityOf(
  size: StoreSize,
  timeline: JobsView["timeline"] | undefined,
  hour: number,
): CapacityView {
  const now = new Date(hour * 3_600_000);
  const thisMonth = now.toISOString().slice(0, 7);
  const current = size.months.find(({ month }) => month === thisMonth);
  const firesPerDay = timeline ? timeline.reduce((sum, bin) => sum + allOf(bin), 0) : null;
  const monthBegan = Date.parse(`${thisMonth}-01T00:00:00Z`);
  const daysRun = Math.max(1 / 24, (now.getTime() - monthBegan) / dayMs);
  const measuredPerDay = current && current.executions >= countsFrom ? current.bytes / daysRun : null;
  const counted = size.months.filter(({ executions }) => executions >= countsFrom);
  const basis =
    counted.filter(({ month }) => month < thisMonth).sort((a, b) => b.executions - a.executions)[0] ??
    counted[0];
  const bytesPerFire = basis ? basis.bytes / basis.executions : null;
  const forecastPerDay = firesPerDay !== null && bytesPerFire !== null ? firesPerDay * bytesPerFire : null;
  const rate = Math.max(measuredPerDay ?? 0, forecastPerDay ?? 0);
  return {
    databaseBytes: size.databaseBytes,
    retentionMonths: size.retentionMonths,
    recordBytes: size.months.reduce((sum, { bytes }) => sum + bytes, 0),
    months: [...size.months].reverse(),
    firesPerDay,
    measuredPerDay,
    measuredFrom: current
      ? `${daysRun < 2 ? `${Math.round(daysRun * 24)} h` : `${Math.floor(daysRun)} days`} of ${thisMonth}`
      : "no records this month",
    forecastPerDay,
    forecastFrom: basis ? `as a fire took in ${basis.month}` : "no month to go by",
    difference: measuredPerDay !== null && forecastPerDay ? measuredPerDay / forecastPerDay - 1 : null,
    keptBytes: rate > 0 ? rate * 30.4 * size.retentionMonths : null,
    disks: size.disks.map((disk) => ({
      ...disk,
      daysLeft: rate > 0 ? Math.floor(disk.freeBytes / rate) : null,
    })),
  };
}
