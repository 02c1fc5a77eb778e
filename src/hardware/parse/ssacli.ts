/** `ssacli ctrl all show config detail`: controllers at column 0, their settings at column 3, logical drives below. */
import { type Fact, factValue, fromValue, known, type ListFact, listFact, unknown } from "../../base/fact.ts";
import type { RaidController, RaidVolume } from "../host-facts.ts";
import { keyAndValue, linesOf, mayBeCut, type Output } from "../output.ts";

interface Volume {
  readonly number: string;
  readonly fields: Map<string, string>;
}

interface Section {
  readonly model: string;
  readonly fields: Map<string, string>;
  readonly volumes: Volume[];
}

export function parseSsacli(output: Output): ListFact<RaidController> {
  const sections = sectionsOf(output);
  if (sections.length === 0)
    return /no controllers? (detected|found)/i.test(output.text)
      ? known([])
      : unknown("ssacli: the output names no controller");
  return listFact(
    sections.map((section) => toController(section, output.isWhole)),
    output.isWhole,
    mayBeCut,
  );
}

function sectionsOf(output: Output): Section[] {
  const sections: Section[] = [];
  let fields: Map<string, string> | undefined;
  for (const line of linesOf(output)) {
    const header = /^(\S.*?) in Slot \S+/.exec(line);
    if (header) {
      fields = new Map();
      sections.push({ model: header[1]!, fields, volumes: [] });
      continue;
    }
    const section = sections.at(-1);
    if (!section || line.trim() === "") continue;
    const indent = line.length - line.trimStart().length;
    const volume = /^\s+Logical Drive:\s*(\S+)\s*$/.exec(line)?.[1];
    if (volume) {
      fields = new Map();
      section.volumes.push({ number: volume, fields });
      continue;
    }
    // A heading without a value begins something that is neither controller nor volume: a drive, a cage, a port.
    if (
      !line.includes(":") ||
      /^\s*(physicaldrive|Array:|Port Name:|Sensor ID:|SEP |Internal|External)/.test(line)
    ) {
      fields = undefined;
      continue;
    }
    if (fields === undefined && indent === 3) fields = section.fields;
    const pair = keyAndValue(line.trim(), ":");
    if (pair && fields && !fields.has(pair[0])) fields.set(...pair);
  }
  return sections;
}

function toController({ model, fields, volumes }: Section, isWhole: boolean): RaidController {
  const none = (what: string) => `ssacli prints no line ${JSON.stringify(what)}`;
  const yesNo = (name: string): Fact<boolean> => {
    const text = fields.get(name);
    return fromValue(
      /^(true|enabled?)$/i.test(text ?? "")
        ? true
        : /^(false|disabled?)$/i.test(text ?? "")
          ? false
          : undefined,
      none(name),
    );
  };
  const board = yesNo("Cache Board Present");
  const source = fields.get("Cache Backup Power Source");
  const state = fields.get("Battery/Capacitor Status");
  const count = fields.get("Battery/Capacitor Count");
  const noBattery = yesNo("No-Battery Write Cache");
  const gigabytes = /^(\d+(?:\.\d+)?)( GB| MB)?$/.exec(fields.get("Total Cache Size") ?? "");
  const unit = gigabytes?.[2] === " MB" ? 1024 ** 2 : 1024 ** 3;
  const backup: Fact<"battery" | "capacitor" | "none"> = /^batter/i.test(source ?? "")
    ? known("battery")
    : /^(super)?cap/i.test(source ?? "")
      ? known("capacitor")
      : /^none/i.test(source ?? "") || count === "0"
        ? known("none")
        : unknown(none("Cache Backup Power Source"));
  return {
    tool: "ssacli",
    model: known(model),
    isHealthy: fromValue(
      fields.has("Controller Status") ? fields.get("Controller Status") === "OK" : undefined,
      none("Controller Status"),
    ),
    cacheBytes:
      factValue(board) === false
        ? known(0)
        : fromValue(
            gigabytes ? Math.round(Number(gigabytes[1]) * unit) : undefined,
            none("Total Cache Size"),
          ),
    backup,
    backupIsGood:
      factValue(backup) === "none"
        ? known(false)
        : fromValue(state === undefined ? undefined : state === "OK", none("Battery/Capacitor Status")),
    backupState: fromValue(state, none("Battery/Capacitor Status")),
    nextLearn: unknown("ssacli prints no learn cycle"),
    cachesWithoutBackup: noBattery,
    volumes: listFact(
      volumes.map((volume) => toVolume(volume, fields.get("Cache Ratio"), factValue(noBattery))),
      isWhole,
      mayBeCut,
    ),
  };
}

function toVolume(
  { number, fields }: Volume,
  ratio: string | undefined,
  noBattery: boolean | undefined,
): RaidVolume {
  const caching = fields.get("Caching");
  const writeShare = /(\d+)% Write/.exec(ratio ?? "")?.[1];
  const isThrough = caching === "Disabled" || writeShare === "0";
  const isBack = caching === "Enabled" && writeShare !== undefined && writeShare !== "0";
  return {
    name: number,
    level: fromValue(fields.get("Fault Tolerance"), "ssacli prints no fault tolerance"),
    isHealthy: fromValue(
      fields.has("Status") ? fields.get("Status") === "OK" : undefined,
      "ssacli prints no state of this volume",
    ),
    cachePolicy: fromValue(
      isThrough
        ? "write through"
        : !isBack || noBattery === undefined
          ? undefined
          : noBattery
            ? "always write back"
            : "write back",
      "ssacli does not tell the cache of this volume",
    ),
  };
}
