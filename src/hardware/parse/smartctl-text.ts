/** The text of `smartctl -x`, for versions without JSON. Counters stand in rows, so a verdict needs the end of the output. */
import { fromValue, known, unknown } from "../../base/fact.ts";
import type { DiskMedia } from "../host-facts.ts";
import { asNumber } from "../json.ts";
import { labels, linesOf, mayBeCut, type Output } from "../output.ts";
import { type AtaAttribute, powerLossProtectionOf, problemsOf, wear } from "../smart-health.ts";
import type { SmartctlFacts } from "./smartctl.ts";

export function parseSmartctlText(output: Output, jsonProblem: string): SmartctlFacts {
  const text = labels(output);
  const isSmartctl = /^smartctl \d/m.test(output.text);
  const why = isSmartctl ? "smartctl does not print it" : `smartctl: ${jsonProblem}`;
  const verdict =
    text.get("SMART overall-health self-assessment test result") ?? text.get("SMART Health Status") ?? "";
  const passed = /^(PASSED|OK)\b/.test(verdict) ? true : /^FAIL/.test(verdict) ? false : undefined;
  const attributes = linesOf(output).flatMap(toAttribute);
  const isNvme = text.has("Percentage Used") || text.has("NVMe Version") || text.has("Model Number");
  const isScsi = text.has("SMART Health Status");
  const rate = text.get("Rotation Rate");
  const rpm = asNumber(/^(\d+) rpm$/.exec(rate ?? "")?.[1]);
  const media: DiskMedia | undefined = isNvme
    ? "nvme"
    : /^Solid State Device/.test(rate ?? "")
      ? "ssd"
      : rpm !== undefined
        ? "hdd"
        : undefined;
  const percent = (name: string) => asNumber(/^(\d+)%$/.exec(text.get(name) ?? "")?.[1]);
  const first = (name: string) => asNumber(text.get(name)?.split(/\s/)[0]);
  const bytes = /^([\d,]+)/.exec(
    text.get("User Capacity") ??
      text.get("Namespace 1 Size/Capacity") ??
      text.get("Total NVM Capacity") ??
      "",
  )?.[1];
  const cache = text.get("Write cache is");
  return {
    device: unknown("the text of smartctl does not name the device"),
    model: fromValue(text.get("Device Model") ?? text.get("Model Number") ?? text.get("Product"), why),
    sizeBytes: fromValue(asNumber(bytes?.replaceAll(",", "")), why),
    rotational: fromValue(media === undefined ? undefined : media === "hdd", why),
    media: fromValue(media, why),
    protocol: fromValue(isNvme ? "NVMe" : isScsi ? "SCSI" : attributes.length > 0 ? "ATA" : undefined, why),
    powerLossProtection:
      attributes.length > 0
        ? powerLossProtectionOf(attributes)
        : unknown("smartctl prints no test of capacitors"),
    writeCacheEnabled: /^Enabled/.test(cache ?? "")
      ? known(true)
      : /^Disabled/.test(cache ?? "")
        ? known(false)
        : unknown("smartctl does not print the write cache"),
    health: {
      passed: fromValue(passed, why),
      problems: problemsOf(
        {
          passed,
          attributes: isNvme || isScsi ? undefined : attributes,
          nvme: isNvme
            ? {
                criticalWarning: asNumber(text.get("Critical Warning")),
                mediaErrors: first("Media and Data Integrity Errors"),
                spare: percent("Available Spare"),
                spareThreshold: percent("Available Spare Threshold"),
                percentUsed: percent("Percentage Used"),
              }
            : undefined,
          scsi: isScsi
            ? { uncorrected: scsiErrors(output), grownDefects: first("Elements in grown defect list") }
            : undefined,
        },
        output.isWhole,
        isSmartctl ? mayBeCut : why,
      ),
      percentUsed: wear(percent("Percentage Used") ?? percent("Percentage used endurance indicator")),
      powerOnHours: fromValue(first("Power On Hours") ?? attributes.find((one) => one.id === 9)?.raw, why),
    },
  };
}

/** "ID NAME FLAG VALUE WORST THRESH TYPE UPDATED WHEN_FAILED RAW", and the brief form without TYPE and UPDATED. */
function toAttribute(line: string): AtaAttribute[] {
  const match =
    /^\s*(\d{1,3})\s+(\S+)\s+(?:0x[\da-f]{4}|[A-Z-]{6})\s+(\d{3})\s+(\d{3})\s+(\d{3}|---)\s+(?:\S+\s+(?:Always|Offline)\s+)?(-|NOW|Past|FAILING_NOW|In_the_past)\s+(\d+)/.exec(
      line,
    );
  if (!match) return [];
  return [
    {
      id: Number(match[1]),
      name: match[2]!,
      value: Number(match[3]),
      threshold: match[5] === "---" ? 0 : Number(match[5]),
      raw: Number(match[7]),
      isFailing: /now/i.test(match[6]!),
    },
  ];
}

/** The last column of the rows "read:", "write:" and "verify:" of the error counter log. */
function scsiErrors(output: Output): number[] {
  return linesOf(output).flatMap((line) => {
    const match = /^(?:read|write|verify):\s+.*\s(\d+)\s*$/.exec(line);
    return match ? [Number(match[1])] : [];
  });
}
