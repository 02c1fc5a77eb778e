/** `--settle`: a cluster may be given more time to come to rest than its drill says, never less, nor more than there is. */
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import type { LeaseTimes } from "../../chaos/plan/drill-times.ts";
import { digest } from "../../spec/digest.ts";
import type { DrillVariant, ResolvedDrill } from "../../spec/drill-definition.ts";

/**
 * The same drill with a longer settling time; it has another digest, for it is another drill.
 * @param leastMs undefined: as the drill says
 * @throws E_BAD_VALUE where it is no longer, or as long as the drill may take to come to rest at all
 */
export function withLongerSettle(drill: ResolvedDrill, leastMs: number | undefined): ResolvedDrill {
  if (leastMs === undefined) return drill;
  const { settle } = drill.definition;
  if (leastMs < settle.minimumMs || leastMs >= settle.deadlineMs)
    throw new EscapementError("E_BAD_VALUE", {
      option: "--settle",
      value: formatDuration(leastMs),
      expected: `from ${formatDuration(settle.minimumMs)} to less than ${formatDuration(settle.deadlineMs)}`,
      hint: "a shorter one would call a cluster at rest that is not; settle.minimum and settle.deadline of the drill say both",
    });
  const definition = { ...drill.definition, settle: { ...settle, minimumMs: leastMs } };
  return { ...drill, definition, digest: digest(definition) };
}

/**
 * A drill that must run into its deadline is unknown before it begins.
 * @param leastMs of `--settle`; undefined: as the drill says
 * @throws E_BAD_VALUE where `--settle` is the reason, else E_BAD_DATA
 */
export async function requireTimeToSettle(
  { definition, file }: ResolvedDrill,
  variants: readonly DrillVariant[],
  leases: LeaseTimes,
  leastMs?: number,
): Promise<void> {
  const { settleShortfall } = await import("../../chaos/plan/drill-times.ts");
  for (const variant of variants) {
    const what = settleShortfall(definition, variant, leases);
    if (what === null) continue;
    if (leastMs === undefined)
      throw new EscapementError("E_BAD_DATA", {
        what: `${file}: ${what}`,
        hint: "lengthen settle.deadline, or shorten the hold or settle.minimum",
      });
    throw new EscapementError("E_BAD_VALUE", {
      option: "--settle",
      value: formatDuration(leastMs),
      expected: "short enough for settle.deadline",
      hint: what,
    });
  }
}
