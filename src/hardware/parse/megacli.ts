/** `megacli -AdpBbuCmd -aAll` and `megacli -LDInfo -LAll -aAll`, alone or one after the other. */
import { type Fact, fromValue, known, type ListFact, listFact, mapFact, unknown } from "../../base/fact.ts";
import type { RaidController, RaidVolume } from "../host-facts.ts";
import { keyAndValue, linesOf, mayBeCut, type Output } from "../output.ts";

interface Adapter {
  readonly battery: Map<string, string>;
  readonly volumes: Map<string, string>[];
}

export function parseMegacli(output: Output): ListFact<RaidController> {
  const adapters = new Map<string, Adapter>();
  // Of two outputs one after the other, only the end of the last proves anything.
  let isEnded = false;
  let fields: Map<string, string> | undefined;
  let here = "0";
  const adapter = (id: string): Adapter => {
    here = id;
    const found = adapters.get(id) ?? { battery: new Map(), volumes: [] };
    adapters.set(id, found);
    return found;
  };
  for (const raw of linesOf(output)) {
    const line = raw.trim();
    if (line !== "") isEnded = /^Exit Code:\s*0x00$/.test(line);
    const battery = /^BBU (?:status|Capacity Info|Design Info|Properties) for Adapter:\s*(\d+)/i.exec(
      line,
    )?.[1];
    const drives = /^Adapter (\d+) -- Virtual Drive Information/i.exec(line)?.[1];
    if (battery) fields = adapter(battery).battery;
    else if (drives) {
      adapter(drives);
      fields = undefined;
    } else if (/^Virtual Drive:\s*\d+/i.test(line)) {
      fields = new Map([["number", /\d+/.exec(line)![0]]]);
      adapter(here).volumes.push(fields);
    } else {
      const pair = keyAndValue(line, ":");
      if (pair && fields && !fields.has(pair[0])) fields.set(...pair);
    }
  }
  const isWhole = output.isWhole || isEnded;
  if (adapters.size === 0)
    return isWhole && /no adapters?|controller count:\s*0/i.test(output.text)
      ? known([])
      : unknown("megacli: the output names no adapter");
  return listFact(
    [...adapters.values()].map((one) => toController(one, isWhole)),
    isWhole,
    mayBeCut,
  );
}

/** Each must be "No" before the battery is called good. */
const complaints = [
  "Battery Pack Missing",
  "Battery Replacement required",
  "Remaining Capacity Low",
  "Pack is about to fail & should be replaced",
];

function toController({ battery, volumes }: Adapter, isWhole: boolean): RaidController {
  const state = battery.get("Battery State");
  const list = volumes.map(toVolume);
  const listed: ListFact<RaidVolume> =
    volumes.length === 0 ? unknown("megacli: no -LDInfo in this output") : listFact(list, isWhole, mayBeCut);
  const type = battery.get("BatteryType");
  return {
    tool: "megacli",
    model: unknown("megacli: no model in this output"),
    isHealthy: unknown("megacli: no state of the controller in this output"),
    cacheBytes: unknown("megacli: no size of the cache in this output"),
    backup:
      battery.get("Battery Pack Missing") === "Yes"
        ? known("none")
        : fromValue(
            type === undefined
              ? undefined
              : /^(CVPM|cachevault|supercap)/i.test(type)
                ? "capacitor"
                : "battery",
            "megacli: no type of battery in this output",
          ),
    backupIsGood: batteryIsGood(battery),
    backupState: fromValue(state, "megacli: no state of the battery in this output"),
    nextLearn: fromValue(battery.get("Next Learn time"), "megacli: no date of a learn cycle"),
    cachesWithoutBackup: mapFact(
      listed,
      (all) => {
        if (all.some((one) => "known" in one.cachePolicy && one.cachePolicy.known === "always write back"))
          return true;
        return all.every((one) => "known" in one.cachePolicy) ? false : undefined;
      },
      "megacli: a cache policy could not be read",
    ),
    volumes: listed,
  };
}

function batteryIsGood(battery: ReadonlyMap<string, string>): Fact<boolean> {
  const state = battery.get("Battery State");
  if (complaints.some((name) => /^yes/i.test(battery.get(name) ?? ""))) return known(false);
  if (state !== undefined && !/^(optimal|operational)$/i.test(state)) return known(false);
  const missing = complaints.filter((name) => !/^no$/i.test(battery.get(name) ?? ""));
  if (state === undefined || missing.length > 0)
    return unknown(`megacli: no line ${JSON.stringify(state === undefined ? "Battery State" : missing[0])}`);
  return known(true);
}

function toVolume(fields: ReadonlyMap<string, string>): RaidVolume {
  const policy = fields.get("Current Cache Policy") ?? "";
  const state = fields.get("State");
  return {
    name: fields.get("Name") || (fields.get("number") ?? "volume"),
    level: fromValue(fields.get("RAID Level"), "megacli: no level of this volume"),
    isHealthy: fromValue(
      state === undefined ? undefined : /^optimal$/i.test(state),
      "megacli: no state of this volume",
    ),
    cachePolicy: fromValue(
      /^WriteThrough\b/.test(policy) && /bad bbu/i.test(policy)
        ? "write through"
        : /^WriteBack\b/.test(policy) && /write cache ok if bad bbu/i.test(policy)
          ? "always write back"
          : /^WriteBack\b/.test(policy) && /no write cache if bad bbu/i.test(policy)
            ? "write back"
            : undefined,
      "megacli: no current cache policy of this volume",
    ),
  };
}
