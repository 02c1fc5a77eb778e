/** What `once` accepts as a lease and as a name. */
import { formatDuration } from "../base/duration.ts";
import { EscapementError } from "../base/errors.ts";

/** A shorter one can not be renewed in time on a busy machine. */
const shortestLeaseMs = 1_000;
/** After a crash nobody can settle the run before the lease has ended. */
const longestLeaseMs = 86_400_000;
/** An index entry of PostgreSQL holds about 2,700 bytes; job and slot stand in one, twice with room to spare. */
const longestNameBytes = 500;

/** @throws E_BAD_DATA */
export function checkLease(leaseMs: number): void {
  if (leaseMs >= shortestLeaseMs && leaseMs <= longestLeaseMs) return;
  const size = Number.isSafeInteger(leaseMs) && leaseMs >= 0 ? formatDuration(leaseMs) : String(leaseMs);
  throw new EscapementError("E_BAD_DATA", {
    what: `a lease of ${size} will not do`,
    hint: `use at least ${formatDuration(shortestLeaseMs)} and at most ${formatDuration(longestLeaseMs)}; it is renewed, so it may be much shorter than the run`,
  });
}

/**
 * Two names that look the same must be the same: no invisible character may make a second run of one.
 * @throws E_BAD_DATA
 */
export function checkName(what: string, name: string): void {
  const fault =
    name === ""
      ? "it is empty"
      : name.trim() !== name || /\p{Cc}/u.test(name)
        ? "it begins or ends with a blank, or has a control character in it"
        : Buffer.byteLength(name) > longestNameBytes
          ? `it is longer than ${longestNameBytes} bytes`
          : undefined;
  if (fault === undefined) return;
  throw new EscapementError("E_BAD_DATA", {
    what: `${what} ${JSON.stringify(name.slice(0, 80))}: ${fault}`,
    hint: "every host must come to exactly the same text",
  });
}
