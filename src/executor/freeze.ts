/** The step that freezes an execution's input: what its command prints, one business key a line. */
import { messageOf } from "../base/errors.ts";
import { sleep } from "../base/monotonic.ts";
import type { Queryable } from "../store/database.ts";
import { freezeKeys } from "../store/frozen-key.ts";
import type { Attempt } from "./attempt.ts";

/** More is no list of business keys any more, and one statement writes it. */
const mostKeys = 1_000_000;
/** An index entry must hold it. */
const longestKeyBytes = 1_000;
const retryMs = 500;

/** @returns the distinct keys in the order printed; blank lines count for nothing */
export function parseKeys(
  output: string | undefined,
): { readonly keys: readonly string[] } | { readonly error: string } {
  if (output === undefined) return { error: "printed more than 64 MiB" };
  const keys = new Set<string>();
  for (const [i, line] of output.split("\n").entries()) {
    const key = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (key === "") continue;
    if (key.includes("\0")) return { error: `line ${i + 1} contains a NUL character` };
    if (Buffer.byteLength(key) > longestKeyBytes)
      return { error: `line ${i + 1} is longer than ${longestKeyBytes} bytes` };
    keys.add(key);
    if (keys.size > mostKeys) return { error: `printed more than ${mostKeys} keys` };
  }
  return { keys: [...keys] };
}

/**
 * Writes the keys of a freezing step that ended with 0; tries as long as the lease is trusted.
 * @returns undefined when they are frozen, else why not
 */
export async function freezeInput(db: Queryable, attempt: Attempt): Promise<string | undefined> {
  const parsed = parseKeys(attempt.output);
  if ("error" in parsed) return `the freezing step ${parsed.error}`;
  const { shards } = attempt.definition;
  if (shards.by !== "frozen") return "the job does not freeze its input";
  for (;;) {
    try {
      const { lease, claim } = attempt;
      const held = await freezeKeys(db, lease.incarnation, claim, shards.count, parsed.keys);
      return held ? undefined : "the claim was not held any more when the keys were to be frozen";
    } catch (error) {
      if (!attempt.lease.trusted) return `the keys could not be frozen: ${messageOf(error)}`;
      await sleep(retryMs);
    }
  }
}
