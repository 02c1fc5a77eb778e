/**
 * A cron expression in a zone, with its DST policies.
 *
 * Between two changes of offset (a segment) local time and UTC run side by side, so the fires of a segment
 * are the local times it contains. What happens at a change:
 *
 *   clock jumps forward   local times in the gap exist in no segment. If there is any and the policy says
 *                         so, the instant of the change is one fire, however many there are.
 *   clock is set back     local times in the repeated stretch exist in both segments. Wildcard expressions
 *                         fire in both; fixed times in the first, the second or both, as the policy says.
 *
 * Nothing depends on where the question was asked from: every rule looks at the instant alone.
 */
import type { CronExpression } from "./cron-expression.ts";
import type { LocalTimes } from "./local-times.ts";
import type { DstGap, DstOverlap, Schedule } from "./schedule.ts";
import { horizonEndSec, horizonStartSec, reachSec, type Zone } from "./zone.ts";

/** Further off than this, the changes between are jumped over. */
const farSec = 2 * 366 * 86_400;

export class CronSchedule implements Schedule {
  readonly #times: LocalTimes;
  readonly #zone: Zone;
  readonly #runInGap: boolean;
  readonly #dropFirst: boolean;
  readonly #dropSecond: boolean;

  constructor(cron: CronExpression, zone: Zone, dstGap: DstGap, dstOverlap: DstOverlap) {
    this.#times = cron.localTimes;
    this.#zone = zone;
    this.#runInGap = dstGap === "run-at-transition";
    this.#dropFirst = !cron.wildcard && dstOverlap === "second";
    this.#dropSecond = !cron.wildcard && dstOverlap === "first";
  }

  next(afterMs: number): number | null {
    const from = Math.max(horizonStartSec, Math.floor(afterMs / 1000) + 1);
    if (!(from < horizonEndSec)) return null;
    const found = this.#atOrAfter(from);
    return found < horizonEndSec ? found * 1000 : null;
  }

  previous(beforeMs: number): number | null {
    const to = Math.min(horizonEndSec, Math.ceil(beforeMs / 1000)) - 1;
    if (!(to >= horizonStartSec)) return null;
    const found = this.#atOrBefore(to);
    return found >= horizonStartSec ? found * 1000 : null;
  }

  matches(ms: number): boolean {
    return this.next(ms - 1) === ms;
  }

  between(fromMsExclusive: number, toMsInclusive: number, limit = Number.POSITIVE_INFINITY): number[] {
    const fires: number[] = [];
    let fire = fires.length < limit ? this.next(fromMsExclusive) : null;
    while (fire !== null && fire <= toMsInclusive) {
      fires.push(fire);
      fire = fires.length < limit ? this.next(fire) : null;
    }
    return fires;
  }

  #atOrAfter(from: number): number {
    const zone = this.#zone;
    zone.cover(from, from);
    const { starts, offsets } = zone;
    let i = zone.indexAt(from);
    // A fire moved to the change itself belongs to the end of the segment before.
    if (starts[i] === from) i--;
    /** No local time in [local, found) is one of ours. */
    let local = from + offsets[i]!;
    let found = this.#times.atOrAfter(local);
    for (;;) {
      const offset = offsets[i]!;
      const instant = found - offset;
      if (instant >= horizonEndSec + reachSec) return Number.POSITIVE_INFINITY;
      zone.cover(from, instant);
      const isLast = i + 1 === starts.length;
      const end = isLast ? Number.POSITIVE_INFINITY : starts[i + 1]!;
      const offsetAfter = isLast ? offset : offsets[i + 1]!;
      if (instant < end) {
        if (this.#dropSecond && i > 0 && found < starts[i]! + offsets[i - 1]!) {
          local = starts[i]! + offsets[i - 1]!;
          found = this.#times.atOrAfter(local);
          continue;
        }
        if (!(this.#dropFirst && found >= end + offsetAfter)) return instant;
      } else if (this.#runInGap && found < end + offsetAfter) {
        return end;
      }
      const resume = end + offsetAfter;
      if (resume < local || found < resume) {
        local = resume;
        found = this.#times.atOrAfter(local);
        i++;
      } else {
        // No change before the one nearest to a far time can matter: go there at once.
        i = instant - end > farSec ? zone.indexFarFrom(instant - 2 * reachSec) : i + 1;
      }
    }
  }

  #atOrBefore(to: number): number {
    const zone = this.#zone;
    zone.cover(to, to);
    const { starts, offsets } = zone;
    let i = zone.indexAt(to);
    /** No local time in (found, local] is one of ours. */
    let local = to + offsets[i]!;
    let found = this.#times.atOrBefore(local);
    for (;;) {
      const offset = offsets[i]!;
      const instant = found - offset;
      if (instant < horizonStartSec - reachSec) return Number.NEGATIVE_INFINITY;
      i += zone.cover(instant, to);
      const start = starts[i]!;
      const offsetBefore = i === 0 ? offset : offsets[i - 1]!;
      if (instant >= start) {
        const resume = i + 1 < starts.length ? starts[i + 1]! + offsets[i + 1]! : Number.POSITIVE_INFINITY;
        if (this.#dropFirst && found >= resume) {
          local = resume - 1;
          found = this.#times.atOrBefore(local);
          continue;
        }
        if (!(this.#dropSecond && found < start + offsetBefore)) return instant;
      } else if (this.#runInGap && found >= start + offsetBefore) {
        return start;
      }
      const resume = start + offsetBefore - 1;
      if (resume > local || found > resume) {
        local = resume;
        found = this.#times.atOrBefore(local);
        i--;
      } else {
        i = start - instant > farSec ? zone.indexFarFrom(instant + 2 * reachSec) : i - 1;
      }
    }
  }
}
