/** Facts that were kept in a file, as `escapement facts --json` prints them, become facts again. */

import { parseGathered } from "../../hardware/gather/gathered.ts";
import { blame } from "../../hardware/gather/section-reader.ts";
import type { HostFacts } from "../../hardware/host-facts.ts";

/** A host of which nothing is known. */
export function noFacts(reason: string): HostFacts {
  return blame(parseGathered("", "nothing0"), reason) as HostFacts;
}

/**
 * @param document the facts of one host, or a document with `hosts`, of which the named one counts
 * @returns what the document holds and this version knows; everything else unknown. Undefined
 *   where there are no facts of that host in it.
 */
export function factsFromJson(document: unknown, host: string): HostFacts | undefined {
  const found = factsOf(document, host);
  if (!isRecord(found) || !isRecord(found.cpu) || !isRecord(found.memory)) return undefined;
  return overlay(noFacts("not in the facts file"), found) as HostFacts;
}

function factsOf(document: unknown, host: string): unknown {
  if (!isRecord(document)) return undefined;
  const { hosts, facts } = document;
  if (Array.isArray(hosts)) {
    const one = hosts.find((each) => isRecord(each) && (each.host === host || each.name === host)) as
      | Record<string, unknown>
      | undefined;
    return one?.facts ?? (isRecord(one?.value) ? (one.value.facts ?? one.value) : undefined);
  }
  return facts ?? document;
}

/** Keeps the shape of the first; a fact is taken over only as a fact. */
function overlay(blank: unknown, found: unknown): unknown {
  if (!isRecord(blank) || !isRecord(found)) return blank;
  if ("unknown" in blank || "known" in blank) return "known" in found || "unknown" in found ? found : blank;
  return Object.fromEntries(
    Object.entries(blank).map(([name, value]) => [name, overlay(value, found[name])]),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
