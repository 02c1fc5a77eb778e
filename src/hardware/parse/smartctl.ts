/** `smartctl -j -x DEV` (`-a` and less work too); text without `-j` is read as a fallback. */
import { type Fact, fromValue, known, unknown } from "../../base/fact.ts";
import type { DiskHealth, DiskMedia } from "../host-facts.ts";
import { asArray, asBoolean, asNumber, asText, at, jsonIn } from "../json.ts";
import type { Output } from "../output.ts";
import { type AtaAttribute, powerLossProtectionOf, problemsOf, wear } from "../smart-health.ts";
import { parseSmartctlText } from "./smartctl-text.ts";

export interface SmartctlFacts {
  /** "/dev/sda". */
  readonly device: Fact<string>;
  readonly model: Fact<string>;
  readonly sizeBytes: Fact<number>;
  readonly rotational: Fact<boolean>;
  readonly media: Fact<DiskMedia>;
  /** "ATA", "SCSI", "NVMe". */
  readonly protocol: Fact<string>;
  readonly powerLossProtection: Fact<boolean>;
  /** Whether the drive caches writes in memory that needs power. */
  readonly writeCacheEnabled: Fact<boolean>;
  readonly health: DiskHealth;
}

export function parseSmartctl(output: Output): SmartctlFacts {
  const json = jsonIn(output);
  if ("unknown" in json) return parseSmartctlText(output, json.unknown);
  const document = json.known;
  const exitStatus = asNumber(at(document, "smartctl", "exit_status"));
  const messages = asArray(at(document, "smartctl", "messages")).map(
    (one) => asText(at(one, "string")) ?? "",
  );
  const said = messages.find((text) => text !== "");
  // Bits 0 to 2: the command line was wrong, the device did not open, or a command to it failed.
  const why = said
    ? `smartctl: ${said.slice(0, 100)}`
    : exitStatus === undefined
      ? "the document is not smartctl's"
      : "smartctl does not print it";
  const protocol = asText(at(document, "device", "protocol"));
  const rotation = asNumber(at(document, "rotation_rate"));
  const attributes = asArray(at(document, "ata_smart_attributes", "table")).flatMap(toAttribute);
  const passed = asBoolean(at(document, "smart_status", "passed"));
  const log = at(document, "nvme_smart_health_information_log");
  const errors = at(document, "scsi_error_counter_log");
  const used =
    asNumber(at(log, "percentage_used")) ??
    asNumber(at(document, "scsi_percentage_used_endurance_indicator"));
  const isNvme = protocol === "NVMe";
  return {
    device: fromValue(asText(at(document, "device", "name")), why),
    model: fromValue(asText(at(document, "model_name")) ?? asText(at(document, "scsi_model_name")), why),
    sizeBytes: fromValue(
      asNumber(at(document, "user_capacity", "bytes")) ?? asNumber(at(document, "nvme_total_capacity")),
      why,
    ),
    rotational: isNvme ? known(false) : fromValue(rotation === undefined ? undefined : rotation > 0, why),
    media: fromValue(
      isNvme ? "nvme" : rotation === undefined ? undefined : rotation > 0 ? "hdd" : "ssd",
      why,
    ),
    protocol: fromValue(protocol, why),
    powerLossProtection:
      attributes.length > 0
        ? powerLossProtectionOf(attributes)
        : unknown("smartctl prints no test of capacitors"),
    writeCacheEnabled: fromValue(
      asBoolean(at(document, "write_cache", "enabled")),
      "smartctl does not print the write cache",
    ),
    health: {
      passed: fromValue(passed, why),
      problems: problemsOf(
        {
          passed,
          attributes: protocol === "ATA" ? attributes : undefined,
          nvme:
            log === undefined
              ? undefined
              : {
                  criticalWarning: asNumber(at(log, "critical_warning")),
                  mediaErrors: asNumber(at(log, "media_errors")),
                  spare: asNumber(at(log, "available_spare")),
                  spareThreshold: asNumber(at(log, "available_spare_threshold")),
                  percentUsed: asNumber(at(log, "percentage_used")),
                },
          scsi:
            errors === undefined
              ? undefined
              : {
                  uncorrected: ["read", "write"].map((kind) =>
                    asNumber(at(errors, kind, "total_uncorrected_errors")),
                  ),
                  grownDefects: asNumber(at(document, "scsi_grown_defect_list")),
                },
          exitStatus,
        },
        exitStatus !== undefined && (exitStatus & 7) === 0,
        exitStatus !== undefined && (exitStatus & 7) === 0
          ? "smartctl prints only part of the counters"
          : why,
      ),
      percentUsed: wear(used),
      powerOnHours: fromValue(asNumber(at(document, "power_on_time", "hours")), why),
    },
  };
}

function toAttribute(row: unknown): AtaAttribute[] {
  const id = asNumber(at(row, "id"));
  const value = asNumber(at(row, "value"));
  if (id === undefined || value === undefined) return [];
  return [
    {
      id,
      name: asText(at(row, "name")) ?? `attribute ${id}`,
      value,
      threshold: asNumber(at(row, "thresh")) ?? 0,
      raw: asNumber(at(row, "raw", "value")),
      isFailing: /now/i.test(asText(at(row, "when_failed")) ?? ""),
    },
  ];
}
