/** The time source as a process has written it into its row. */
import { z } from "zod";
import { timeSourceSchema, unknownSource } from "../hardware/own-time-source.ts";
import type { HostTimeSource } from "./picture.ts";

const rowSchema = timeSourceSchema.extend({
  at: z.string().transform((text) => new Date(text)),
});

/** Null stays null: it has not said anything yet. What cannot be read is unknown, and said to be. */
export function parseTimeSource<Row extends { readonly timeSource: unknown }>(
  row: Row,
): Omit<Row, "timeSource"> & { readonly timeSource: HostTimeSource | null } {
  if (row.timeSource === null) return { ...row, timeSource: null };
  const { data } = rowSchema.safeParse(row.timeSource);
  return {
    ...row,
    timeSource: data ?? { ...unknownSource("what it has written cannot be read", true), at: new Date(0) },
  };
}
