/**
 * `storcli` and `perccli`: `/call show all J`, also `/call/cv show all J` and
 * `/call/bbu show all J`, whose rows are property and value. One of a capacitor
 * (CacheVault), a battery (BBU) or neither is there.
 */
import { type Fact, fromValue, known, type ListFact, listFact, mapFact, unknown } from "../../base/fact.ts";
import type { RaidController, RaidVolume } from "../host-facts.ts";
import { asArray, asNumber, asText, at, jsonIn } from "../json.ts";
import type { Output } from "../output.ts";
import { parseSize } from "../quantity.ts";

export function parseStorcli(
  output: Output,
  tool: "storcli" | "perccli" = "storcli",
): ListFact<RaidController> {
  const json = jsonIn(output);
  if ("unknown" in json) return unknown(`${tool}: ${json.unknown}`);
  const rows = asArray(at(json.known, "Controllers"));
  if (rows.length === 0) return unknown(`${tool} lists no controllers and does not say that there are none`);
  const controllers: RaidController[] = [];
  for (const row of rows) {
    const description = asText(at(row, "Command Status", "Description")) ?? "";
    const isThere = at(row, "Command Status", "Controller") !== undefined;
    if (!isThere && /no controller/i.test(description)) continue;
    if (at(row, "Command Status", "Status") !== "Success" && at(row, "Response Data") === undefined)
      return listFact(controllers, false, `${tool}: ${description || "the command failed"}`);
    controllers.push(toController(at(row, "Response Data"), tool));
  }
  return known(controllers);
}

interface Backup {
  readonly kind: "battery" | "capacitor";
  readonly state: string | undefined;
  readonly nextLearn: string | undefined;
}

function toController(data: unknown, tool: string): RaidController {
  const status = asText(at(data, "Status", "Controller Status"));
  const memory = asText(at(data, "HwCfg", "On Board Memory Size"));
  const size = memory === undefined ? undefined : parseSize(memory);
  const cacheBytes = fromValue(size, `${tool}: no size of the cache`);
  const found = backupOf(data);
  const hardware = asText(at(data, "HwCfg", "BBU"));
  // Cards of HPE call the same mask "Energy Pack Status".
  const mask = asNumber(at(data, "Status", "BBU Status") ?? at(data, "Status", "Energy Pack Status"));
  const backup: Fact<"battery" | "capacitor" | "none"> = found
    ? known(found.kind)
    : hardware === "Absent"
      ? known("none")
      : unknown(`${tool}: neither capacitor nor battery is listed`);
  const volumes = volumesOf(data, tool);
  return {
    tool,
    model: fromValue(asText(at(data, "Basics", "Model")), `${tool}: no model`),
    isHealthy: mapFact(
      fromValue(status, `${tool}: no state of the controller`),
      (text) => /^(optimal|ok)$/i.test(text),
      "",
    ),
    cacheBytes,
    backup,
    backupIsGood: isGood(found, backup, mask, tool),
    backupState: fromValue(found?.state, `${tool}: no state of a battery or capacitor`),
    nextLearn: fromValue(
      found?.nextLearn ?? notNone(asText(at(data, "Scheduled Tasks", "Next Battery Learn"))),
      `${tool}: no date of a learn cycle`,
    ),
    cachesWithoutBackup: mapFact(
      volumes,
      (list) =>
        list.some((one) => "known" in one.cachePolicy && one.cachePolicy.known === "always write back")
          ? true
          : list.every((one) => "known" in one.cachePolicy)
            ? false
            : undefined,
      `${tool}: a cache policy could not be read`,
    ),
    volumes,
  };
}

function backupOf(data: unknown): Backup | undefined {
  for (const [name, kind] of [
    ["Cachevault_Info", "capacitor"],
    ["BBU_Info", "battery"],
  ] as const) {
    const rows = asArray(at(data, name));
    if (rows.length === 0) continue;
    const property = (...names: readonly string[]) =>
      asText(
        at(
          rows.find((row) => names.includes(asText(at(row, "Property")) ?? "")),
          "Value",
        ),
      );
    return {
      kind,
      state: asText(at(rows[0], "State")) ?? property("State", "Battery State"),
      nextLearn: notNone(asText(at(rows[0], "Next Learn")) ?? property("Next Learn", "Next Learn time")),
    };
  }
  return undefined;
}

function notNone(text: string | undefined): string | undefined {
  return text && !/^(na|n\/a|none|-)$/i.test(text) ? text.replace(/\s+/g, " ") : undefined;
}

/** 0 is fine, 8 is charging, 4096 is tolerated by the firmware; every other bit stands against the backup. */
const harmless = 8 | 4096;

function isGood(
  found: Backup | undefined,
  backup: Fact<"battery" | "capacitor" | "none">,
  mask: number | undefined,
  tool: string,
): Fact<boolean> {
  if ("known" in backup && backup.known === "none") return known(false);
  if (mask !== undefined && (mask & ~harmless) !== 0) return known(false);
  if (found?.state === undefined) return unknown(`${tool}: no state of a battery or capacitor`);
  return known(/^optimal$/i.test(found.state));
}

function volumesOf(data: unknown, tool: string): ListFact<RaidVolume> {
  const rows = at(data, "VD LIST");
  const said = asNumber(at(data, "Virtual Drives"));
  if (!Array.isArray(rows)) return said === 0 ? known([]) : unknown(`${tool}: no list of volumes`);
  const volumes = rows.map((row): RaidVolume => {
    const state = asText(at(row, "State"));
    const code = asText(at(row, "Cache")) ?? "";
    return {
      name: asText(at(row, "Name")) ?? asText(at(row, "DG/VD")) ?? "volume",
      level: fromValue(asText(at(row, "TYPE")), `${tool}: no level of this volume`),
      isHealthy: fromValue(
        state === undefined ? undefined : /^optl$/i.test(state),
        `${tool}: no state of this volume`,
      ),
      cachePolicy: fromValue(cachePolicy(code), `${tool}: cache code ${JSON.stringify(code.slice(0, 12))}`),
    };
  });
  return listFact(
    volumes,
    said === undefined || said === volumes.length,
    `${tool} counts ${said} volumes and lists ${volumes.length}`,
  );
}

/** Read-ahead (R, NR), write policy (WT, WB, AWB), direct or cached (D, C): "RAWBD" is R, AWB, D. */
function cachePolicy(code: string) {
  const policy = /^(?:NR|R)(WT|WB|AWB|FWB)[CD]$/.exec(code)?.[1];
  if (policy === "WT") return "write through";
  if (policy === "WB") return "write back";
  return policy === undefined ? undefined : "always write back";
}
