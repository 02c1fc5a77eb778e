/** Whether a host's wall clock agrees with this machine's, as far as one answer can tell. */
import { formatDuration } from "../../base/duration.ts";

/** Above this nothing is left to the granularity of either clock. */
const toleranceMs = 2_000;

/**
 * @param hostSeconds what the host's clock said, seconds since 1970
 * @param askedMs, answeredMs this machine's clock around it, milliseconds since 1970
 * @returns a sentence for people where they differ; which of the two is wrong nobody can tell from here
 */
export function clockDifference(
  hostSeconds: number | undefined,
  askedMs: number,
  answeredMs: number,
): string | undefined {
  if (hostSeconds === undefined) return undefined;
  const hostMs = hostSeconds * 1000;
  const ahead = hostMs - answeredMs;
  const behind = askedMs - hostMs;
  const off = Math.max(ahead, behind);
  if (off <= toleranceMs) return undefined;
  // Coarse, so that two looks at the same clock say the same.
  const unit = off < 60_000 ? 1_000 : 60_000;
  const how = formatDuration(Math.round(off / unit) * unit);
  return `its clock is ${how} ${ahead > behind ? "ahead of" : "behind"} this machine's; one of the two is wrong`;
}
