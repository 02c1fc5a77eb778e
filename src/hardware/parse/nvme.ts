/**
 * `nvme id-ctrl`, `nvme smart-log` and `nvme list`, all with `-o json`, and `nvme ocp smart-add-log`,
 * text or JSON: one reader, told apart by their fields.
 */
import {
  type Fact,
  fromValue,
  known,
  type ListFact,
  listFact,
  reasonOf,
  seenOf,
  unknown,
} from "../../base/fact.ts";
import type { DiskHealth } from "../host-facts.ts";
import { asArray, asNumber, asText, at, entriesOf, jsonIn } from "../json.ts";
import type { Output } from "../output.ts";
import { problemsOf, wear } from "../smart-health.ts";
import { noOcp, type OcpFacts, ocpOfJson, ocpOfText } from "./nvme-ocp.ts";

export interface NvmeDevice {
  /** "/dev/nvme0n1". */
  readonly path: string;
  readonly model: Fact<string>;
  readonly sizeBytes: Fact<number>;
}

export interface NvmeFacts {
  readonly document: Fact<"id-ctrl" | "smart-log" | "list" | "ocp smart-add-log">;
  readonly model: Fact<string>;
  /** Bit 0 of `vwc`: writes may sit in memory that needs power until they are flushed. */
  readonly volatileWriteCache: Fact<boolean>;
  readonly health: DiskHealth;
  readonly ocp: OcpFacts;
  readonly devices: ListFact<NvmeDevice>;
}

export function parseNvme(output: Output): NvmeFacts {
  const json = jsonIn(output);
  if ("unknown" in json) {
    const text = ocpOfText(output);
    return text ? withOcp(text) : nothing(`nvme: ${json.unknown}`);
  }
  const document = json.known;
  if (at(document, "vwc") !== undefined) {
    const vwc = asNumber(at(document, "vwc"));
    return {
      ...nothing("this is id-ctrl"),
      document: known("id-ctrl"),
      model: fromValue(asText(at(document, "mn")), "nvme: no model"),
      volatileWriteCache: fromValue(
        vwc === undefined || !Number.isInteger(vwc) ? undefined : (vwc & 1) === 1,
        "nvme: vwc is no number",
      ),
    };
  }
  if (at(document, "critical_warning") !== undefined)
    return { ...nothing("this is smart-log"), document: known("smart-log"), health: healthOf(document) };
  if (Array.isArray(at(document, "Devices")))
    return { ...nothing("this is a list"), document: known("list"), devices: known(devicesOf(document)) };
  const ocp = ocpOfJson(document);
  return ocp ? withOcp(ocp) : nothing("nvme: neither id-ctrl nor smart-log nor list nor ocp smart-add-log");
}

/** Other counters of the drive's health are in its smart-log. */
function withOcp(ocp: OcpFacts): NvmeFacts {
  const { health, ...rest } = nothing("this is ocp smart-add-log");
  const problems = listFact(seenOf(ocp.problems), false, reasonOf(health.passed) ?? "");
  return { ...rest, document: known("ocp smart-add-log"), health: { ...health, problems }, ocp };
}

function nothing(reason: string): NvmeFacts {
  const no = unknown(reason);
  return {
    document: no,
    model: no,
    volatileWriteCache: no,
    health: { passed: no, problems: no, percentUsed: no, powerOnHours: no },
    ocp: noOcp(reason),
    devices: no,
  };
}

/** Values are whole numbers, fractions or text, by version; the warning is a mask or an object with one. */
function healthOf(document: unknown): DiskHealth {
  const warning = at(document, "critical_warning");
  const mask = asNumber(warning) ?? asNumber(at(warning, "value"));
  const flags = entriesOf(warning).some(([name, flag]) => name !== "value" && asNumber(flag) === 1);
  const criticalWarning = mask === 0 && flags ? undefined : mask;
  const percentUsed = asNumber(at(document, "percent_used")) ?? asNumber(at(document, "percentage_used"));
  const no = "nvme does not print it";
  const passed = criticalWarning === undefined ? undefined : criticalWarning === 0;
  return {
    passed: fromValue(passed, no),
    problems: problemsOf(
      {
        passed,
        nvme: {
          criticalWarning,
          mediaErrors: asNumber(at(document, "media_errors")),
          spare: asNumber(at(document, "avail_spare")),
          spareThreshold: asNumber(at(document, "spare_thresh")),
          percentUsed,
        },
      },
      true,
      "nvme prints only part of the counters",
    ),
    percentUsed: wear(percentUsed),
    powerOnHours: fromValue(asNumber(at(document, "power_on_hours")), no),
  };
}

/** Older versions list namespaces flat, newer ones below subsystems, controllers. */
function devicesOf(document: unknown): NvmeDevice[] {
  return asArray(at(document, "Devices")).flatMap((row): NvmeDevice[] => {
    const path = asText(at(row, "DevicePath"));
    if (path !== undefined) return [device(path, asText(at(row, "ModelNumber")), at(row, "PhysicalSize"))];
    return asArray(at(row, "Subsystems")).flatMap((subsystem) => {
      const controllers = asArray(at(subsystem, "Controllers"));
      const model = asText(at(controllers[0], "ModelNumber"));
      const spaces = [
        ...asArray(at(subsystem, "Namespaces")),
        ...controllers.flatMap((one) => asArray(at(one, "Namespaces"))),
      ];
      return spaces.flatMap((space) => {
        const name = asText(at(space, "NameSpace"));
        return name === undefined ? [] : [device(`/dev/${name}`, model, at(space, "PhysicalSize"))];
      });
    });
  });
}

function device(path: string, model: string | undefined, size: unknown): NvmeDevice {
  return {
    path,
    model: fromValue(model, "nvme: no model"),
    sizeBytes: fromValue(asNumber(size), "nvme: no size"),
  };
}
