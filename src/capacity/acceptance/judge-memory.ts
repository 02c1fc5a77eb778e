/** Memory: size, error correction, speed. */

import { factValue, seenOf, whyUnknown } from "../../base/fact.ts";
import { counted, formatValue } from "../format.ts";
import type { MachineFacts } from "./machine-facts.ts";
import { fail, pass, passIf, unknown, type Verdict } from "./verdict.ts";

type MemoryFacts = MachineFacts["memory"];

/** Part of installed memory that the kernel and the firmware keep for themselves, at most. */
const hiddenShare = 0.07;

/** The modules decide; without their list, what the kernel sees, if that is clear enough. */
export function judgeMemory({ dimms, totalBytes }: MemoryFacts, leastBytes: number): Verdict {
  const modules = seenOf(dimms);
  const plugged = modules.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const listed = `${counted(modules.length, "module")}, ${formatValue(plugged, "memory")}`;
  if (modules.length > 0 && (plugged >= leastBytes || "known" in dimms))
    return passIf(plugged >= leastBytes, listed);
  const bytes = factValue(totalBytes);
  const why = whyUnknown(dimms) || "the firmware lists no module";
  if (bytes === undefined) return unknown(`${why}; ${whyUnknown(totalBytes)}`);
  const seen = `the kernel sees ${formatValue(bytes, "memory")}`;
  if (bytes >= leastBytes) return pass(seen);
  if (bytes < leastBytes * (1 - hiddenShare)) return fail(seen);
  return unknown(`${seen}; the modules could not be listed (${why})`);
}

export function judgeEcc({ ecc }: MemoryFacts): Verdict {
  const kind = factValue(ecc);
  if (kind === undefined) return unknown(whyUnknown(ecc));
  if (/^(none|parity)$/.test(kind)) return fail(`error correction: ${kind}`);
  // CRC finds errors on the way to a module; whether bits in it are corrected is not told.
  return kind === "crc" ? unknown("error correction: crc") : pass(`error correction: ${kind}`);
}

export function judgeMemorySpeed({ dimms }: MemoryFacts): Verdict {
  const modules = seenOf(dimms);
  if (modules.length === 0) return unknown(whyUnknown(dimms) || "the firmware lists no memory module");
  const speeds = modules.map(({ ratedMtps, configuredMtps }) => ({
    rated: factValue(ratedMtps),
    runs: factValue(configuredMtps),
  }));
  const slow = speeds.filter(({ rated, runs }) => rated !== undefined && runs !== undefined && runs < rated);
  if (slow.length > 0) {
    const [first] = slow;
    return fail(
      `${slow.length} of ${modules.length} modules run at ${first!.runs} in place of ${first!.rated} MT/s`,
    );
  }
  const sizes = new Set(modules.map(({ sizeBytes }) => sizeBytes));
  if (sizes.size > 1) return fail(`modules of ${sizes.size} sizes`);
  if (speeds.some(({ rated, runs }) => rated === undefined || runs === undefined))
    return unknown("the firmware does not tell the speed of every module");
  if (!("known" in dimms)) return unknown(dimms.unknown);
  return pass(`${counted(modules.length, "module")} at ${speeds[0]!.runs} MT/s, their rated speed`);
}
