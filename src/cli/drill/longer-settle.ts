/** `--settle`: a cluster may be given more time to come to rest than its drill says, never less. */
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import { digest } from "../../spec/digest.ts";
import type { ResolvedDrill } from "../../spec/drill-definition.ts";

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
