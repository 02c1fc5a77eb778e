/** The clock of the watchman's host, kept apart from everything else that is measured of a host. */
import { recordClockSample } from "../../store/clock-sample.ts";
import type { Queryable } from "../../store/database.ts";
import type { ClockReading, ClockSourceState } from "../picture.ts";
import { type ClockSampling, sampleClock } from "./sampler.ts";
import { detectSteps } from "./step-detection.ts";
import { readTimeService } from "./time-service.ts";

export interface ClockMonitorOptions {
  readonly node: string;
  readonly host: string;
  readonly sample?: typeof sampleClock;
  readonly askTimeService?: typeof readTimeService;
}

export class ClockMonitor {
  readonly #options: ClockMonitorOptions;
  #last: ClockSampling | null = null;
  #source: ClockSourceState | null = null;

  constructor(options: ClockMonitorOptions) {
    this.#options = options;
  }

  /**
   * Measures, and records steps for everybody to see.
   * @throws what the store throws
   */
  async observe(db: Queryable): Promise<void> {
    const { node, sample = sampleClock, askTimeService = readTimeService } = this.#options;
    this.#source = await askTimeService(node);
    const before = this.#last;
    const after = await sample(db);
    this.#last = after;
    if (!before) return;
    for (const { part, offsetMs } of detectSteps(before, after)) {
      await recordClockSample(db, { node, part, kind: "step", offsetMs, roundTripMs: after.roundTripMs });
    }
  }

  /** While the store is away its clock may go on or not: what comes after is not compared with what was before. */
  forget(): void {
    this.#last = null;
  }

  readings(): readonly ClockReading[] {
    const { node, host } = this.#options;
    if (!this.#last) return [];
    const { offsetMs, errorMs } = this.#last;
    return [{ node, part: "watchman", host, offsetMs, errorMs }];
  }

  source(): ClockSourceState | null {
    return this.#source;
  }
}
