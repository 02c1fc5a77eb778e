/** Money as whole pence, and as people write it. Nothing here ever sees a fraction of a penny. */
import { EscapementError } from "../../base/errors.ts";

/** `-3503.9` → −350390; undefined for anything that is not a decimal amount with at most two places. */
export function parsePence(text: string): number | undefined {
  const match = /^([+-]?)(\d{1,12})(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (!match) return undefined;
  const [, sign, whole = "", places = ""] = match;
  const pence = Number(whole) * 100 + Number(places.padEnd(2, "0"));
  return sign === "-" && pence !== 0 ? -pence : pence;
}

/** −350390 → `-3,503.90`. */
export function formatPence(pence: number): string {
  const whole = Math.trunc(Math.abs(pence) / 100)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
  return `${pence < 0 ? "-" : ""}${whole}.${String(Math.abs(pence) % 100).padStart(2, "0")}`;
}

/** @throws E_BUG rather than returning a rounded sum */
export function sumPence(amounts: Iterable<number>): number {
  let total = 0;
  for (const pence of amounts) total += pence;
  if (!Number.isSafeInteger(total)) throw new EscapementError("E_BUG", { what: `a sum of ${total} pence` });
  return total;
}
