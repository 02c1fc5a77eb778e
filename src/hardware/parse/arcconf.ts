/** `arcconf getconfig N`: sections between rules of dashes, settings as "name : value". */
import { type Fact, fromValue, known, type ListFact, listFact, mapFact, unknown } from "../../base/fact.ts";
import type { RaidController, RaidVolume } from "../host-facts.ts";
import { keyAndValue, linesOf, mayBeCut, type Output } from "../output.ts";
import { parseSize } from "../quantity.ts";

interface Part {
  readonly title: string;
  readonly fields: Map<string, string>;
}

export function parseArcconf(output: Output): ListFact<RaidController> {
  if (/Controllers found:\s*0\b/.test(output.text)) return known([]);
  const parts: Part[] = [];
  const lines = linesOf(output);
  const rule = /^\s*-{20,}\s*$/;
  let isWhole = output.isWhole;
  for (const [i, line] of lines.entries()) {
    if (/^Command completed successfully\.?$/.test(line.trim())) isWhole = true;
    const volume = /^\s*Logical Device number (\d+)/i.exec(line)?.[1];
    if (volume) parts.push({ title: `volume ${volume}`, fields: new Map() });
    else if (/^\s*(Segment|Group|Device #?)\s*\d+/.test(line))
      parts.push({ title: "other", fields: new Map() });
    else if (i > 0 && rule.test(lines[i - 1]!) && rule.test(lines[i + 1] ?? ""))
      parts.push({ title: line.trim().toLowerCase(), fields: new Map() });
    const pair = keyAndValue(line, " : ") ?? keyAndValue(line, ": ");
    const fields = parts.at(-1)?.fields;
    if (pair && fields && !fields.has(pair[0])) fields.set(...pair);
  }
  const controllers = parts.filter((part) => part.title === "controller information");
  if (controllers.length === 0) return unknown("arcconf: the output names no controller");
  if (controllers.length > 1) return unknown("arcconf: more than one controller in one output");
  return listFact([toController(parts, isWhole)], isWhole, mayBeCut);
}

function toController(parts: readonly Part[], isWhole: boolean): RaidController {
  const fields = parts.find((part) => part.title === "controller information")!.fields;
  const status = fields.get("Controller Status");
  const memory = fields.get("Installed memory") ?? fields.get("Cache memory") ?? fields.get("Total memory");
  const volumes = parts.filter((part) => part.title.startsWith("volume ")).map(toVolume);
  const listed = listFact(volumes, isWhole, mayBeCut);
  const { kind, state } = backupOf(parts);
  return {
    tool: "arcconf",
    model: fromValue(fields.get("Controller Model"), "arcconf: no model"),
    isHealthy: fromValue(
      status === undefined ? undefined : /^(optimal|ok)$/i.test(status),
      "arcconf: no state of the controller",
    ),
    cacheBytes: fromValue(
      memory === undefined ? undefined : parseSize(memory),
      "arcconf: no size of the cache",
    ),
    backup: fromValue(kind, "arcconf: neither battery nor backup unit is listed"),
    backupIsGood:
      kind === "none"
        ? known(false)
        : fromValue(
            state === undefined ? undefined : /^(optimal|ready|ok)$/i.test(state),
            "arcconf: no state of a battery or backup unit",
          ),
    backupState: fromValue(state, "arcconf: no state of a battery or backup unit"),
    nextLearn: unknown("arcconf prints no learn cycle"),
    cachesWithoutBackup: mapFact(
      listed as Fact<readonly RaidVolume[]>,
      (all) =>
        all.some((one) => "known" in one.cachePolicy && one.cachePolicy.known === "always write back")
          ? true
          : all.every((one) => "known" in one.cachePolicy)
            ? false
            : undefined,
      "arcconf: a cache policy could not be read",
    ),
    volumes: listed,
  };
}

function backupOf(parts: readonly Part[]): { kind?: "battery" | "capacitor" | "none"; state?: string } {
  let absent = false;
  for (const { title, fields } of parts) {
    const isBattery = /battery information/.test(title);
    if (!isBattery && !/backup unit|supercap|green backup|zmm/.test(title)) continue;
    const state =
      fields.get("Overall Backup Unit Status") ??
      fields.get("Backup Unit Status") ??
      fields.get("Supercap Status") ??
      fields.get("Status");
    if (state === undefined) continue;
    if (/not (installed|present)|absent/i.test(state)) absent = true;
    else return { kind: isBattery ? "battery" : "capacitor", state };
  }
  return absent ? { kind: "none" } : {};
}

function toVolume({ title, fields }: Part): RaidVolume {
  const state = fields.get("Status of Logical Device");
  const setting = fields.get("Write-cache setting") ?? fields.get("Write-cache mode") ?? "";
  return {
    name: fields.get("Logical Device name") || title.replace("volume ", ""),
    level: fromValue(fields.get("RAID level"), "arcconf: no level of this volume"),
    isHealthy: fromValue(
      state === undefined ? undefined : /^optimal$/i.test(state),
      "arcconf: no state of this volume",
    ),
    cachePolicy: fromValue(
      /when protected|conditional/i.test(setting)
        ? "write back"
        : /^(disabled|off)\b|write-through/i.test(setting)
          ? "write through"
          : /^(enabled|on)\b/i.test(setting)
            ? "always write back"
            : undefined,
      "arcconf: no write-cache setting of this volume",
    ),
  };
}
