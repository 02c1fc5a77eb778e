/**
 * This host's wall clock against the database's, by the round trip that was
 * fastest: the answer was written at some instant of it, so the offset is known
 * to within half of it, whatever NTP says on either side.
 */
import { monotonicMs } from "../../base/monotonic.ts";
import type { Queryable } from "../../store/database.ts";
import { readStoreTime } from "../../store/store-time.ts";

export interface ClockSampling {
  /** Wall clock minus the database's. */
  readonly offsetMs: number;
  /** The offset is right to within this: half the round trip, and the millisecond that clocks are read in. */
  readonly errorMs: number;
  readonly roundTripMs: number;
  /** The database's clock minus this process's monotonic one: constant unless either has stepped. */
  readonly storeMinusMonotonicMs: number;
  readonly wallMinusMonotonicMs: number;
}

export interface Clocks {
  wallMs(): number;
  monotonicMs(): number;
}

const ofThisHost: Clocks = { wallMs: Date.now, monotonicMs };
const resolutionMs = 1;

/** @param times how often it is asked; the best answer counts */
export async function sampleClock(
  db: Queryable,
  times = 5,
  clocks: Clocks = ofThisHost,
): Promise<ClockSampling> {
  let best: ClockSampling | null = null;
  for (let i = 0; i < times; i += 1) {
    const sentMs = clocks.monotonicMs();
    const store = await readStoreTime(db);
    const receivedMs = clocks.monotonicMs();
    const wallMinusMonotonicMs = clocks.wallMs() - receivedMs;
    const roundTripMs = receivedMs - sentMs;
    if (best && roundTripMs >= best.roundTripMs) continue;
    const storeMinusMonotonicMs = store.getTime() - (sentMs + receivedMs) / 2;
    best = {
      offsetMs: wallMinusMonotonicMs - storeMinusMonotonicMs,
      errorMs: roundTripMs / 2 + resolutionMs,
      roundTripMs,
      storeMinusMonotonicMs,
      wallMinusMonotonicMs,
    };
  }
  return best!;
}
