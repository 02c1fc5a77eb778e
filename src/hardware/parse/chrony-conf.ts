/** chrony.conf with the files it includes, in reading order: what it says about jumps of the clock. */
import { type Fact, known, unknown } from "../../base/fact.ts";
import type { NtpConfiguration } from "../clock-facts.ts";
import { linesOf, mayBeCut, type Output } from "../output.ts";
import { parseCount, parseDecimal } from "../quantity.ts";

/** Directives are case-insensitive; a later one of a kind replaces an earlier one, as chronyd does. */
export function parseChronyConf(output: Output): Fact<NtpConfiguration> {
  if (!output.isWhole) return unknown(mayBeCut);
  const lines = linesOf(output)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^[!;#%]/.test(line));
  if (lines.length === 0) return unknown("there is no chrony.conf");
  let makestep: NtpConfiguration["makestep"];
  let leapSecondMode = "system";
  let minSources = 1;
  let maxSlewRatePpm = 83_333.333;
  const servers: string[] = [];
  for (const line of lines) {
    const [word, ...rest] = line.split(/\s+/);
    const directive = word!.toLowerCase();
    if (directive === "makestep") {
      const threshold = parseDecimal(rest[0]);
      const limit = parseDecimal(rest[1]);
      if (threshold === undefined || limit === undefined)
        return unknown(`chrony.conf: makestep ${JSON.stringify(rest.join(" ").slice(0, 40))}`);
      makestep = { thresholdSeconds: threshold, limit };
    } else if (directive === "leapsecmode" && rest[0]) leapSecondMode = rest[0].toLowerCase();
    else if (directive === "minsources") minSources = parseCount(rest[0]) ?? minSources;
    else if (directive === "maxslewrate") maxSlewRatePpm = parseDecimal(rest[0]) ?? maxSlewRatePpm;
    else if (/^(server|pool|peer|refclock)$/.test(directive) && rest[0]) servers.push(rest[0]);
  }
  return known({ makestep, leapSecondMode, minSources, maxSlewRatePpm, servers });
}
