/** Measured clocks: a host against the database, and steps of the database's own clock. */
import type { Queryable } from "./database.ts";

export interface ClockSample {
  readonly node: string;
  /** `scheduler`, `executor` or `store`. */
  readonly part: string;
  /** `offset`: wall clock minus the database's. `step`: the database's clock jumped by so much. */
  readonly kind: "offset" | "step";
  readonly offsetMs: number;
  readonly roundTripMs: number | null;
}

export async function recordClockSample(db: Queryable, sample: ClockSample): Promise<void> {
  await db.query(
    "INSERT INTO escapement.clock_sample (node, part, kind, offset_ms, round_trip_ms) VALUES ($1, $2, $3, $4, $5)",
    [sample.node, sample.part, sample.kind, sample.offsetMs, sample.roundTripMs],
  );
}
