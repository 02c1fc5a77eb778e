/** os-release, uname, systemctl's version, /etc/adjtime: what the operating system says of itself. */
import { type Fact, fromValue, unknown } from "../../base/fact.ts";
import { assignments, linesOf, type Output } from "../output.ts";
import { parseCount } from "../quantity.ts";

export function parseOsRelease(output: Output): { id: Fact<string>; version: Fact<string> } {
  const fields = assignments(output);
  return {
    id: fromValue(fields.get("ID") || undefined, "os-release has no ID"),
    version: fromValue(fields.get("VERSION_ID") || undefined, "os-release has no VERSION_ID"),
  };
}

/** One line each: `uname -r`, `uname -m`, `uname -n`. */
export function parseUname(output: Output): {
  kernel: Fact<string>;
  architecture: Fact<string>;
  hostName: Fact<string>;
} {
  const [kernel, architecture, hostName] = linesOf(output).map((line) => line.trim());
  return {
    kernel: fromValue(kernel || undefined, "uname prints no release"),
    architecture: fromValue(architecture || undefined, "uname prints no machine"),
    hostName: fromValue(hostName || undefined, "uname prints no name"),
  };
}

/** "systemd 252 (252.22-1~deb12u1)". */
export function parseSystemdVersion(output: Output): Fact<number> {
  for (const line of linesOf(output)) {
    const version = parseCount(/^systemd (\d+)\b/.exec(line)?.[1]);
    if (version) return { known: version };
  }
  return unknown("systemctl prints no version");
}

/** The third line of /etc/adjtime says how the hardware clock is kept; no file at all means UTC. */
export function parseAdjtime(output: Output): Fact<boolean> {
  const third = linesOf(output)[2]?.trim();
  if (third === "UTC") return { known: false };
  if (third === "LOCAL") return { known: true };
  return unknown("/etc/adjtime does not say UTC or LOCAL");
}
