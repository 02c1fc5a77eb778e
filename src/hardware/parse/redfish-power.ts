/** The Power resource of Redfish, and PowerSubsystem with its supplies expanded. Model names prove nothing about redundancy. */
import { type Fact, fromValue, known, listFact, unknown } from "../../base/fact.ts";
import type { PowerFacts, PowerSupply } from "../host-facts.ts";
import { asArray, asNumber, asText, at, jsonIn } from "../json.ts";
import type { Output } from "../output.ts";

export function parseRedfishPower(output: Output): PowerFacts {
  const json = jsonIn(output);
  if ("unknown" in json) {
    const reason = unknown(`redfish: ${json.unknown}`);
    return { source: "nothing", supplies: reason, redundancyStated: reason, peakWatts: reason };
  }
  const document = json.known;
  const classic = at(document, "PowerSupplies");
  const rows = Array.isArray(classic) ? classic : asArray(at(document, "PowerSupplies", "Members"));
  const stated = asNumber(
    at(document, "PowerSupplies@odata.count") ?? at(document, "PowerSupplies", "Members@odata.count"),
  );
  const supplies = rows.map(toSupply);
  const isListed = supplies.length > 0 && (stated === undefined || stated === supplies.length);
  const redundancy = [
    ...asArray(at(document, "Redundancy")),
    ...asArray(at(document, "PowerSupplyRedundancy")),
  ][0];
  const peaks = asArray(at(document, "PowerControl"))
    .map((control) => asNumber(at(control, "PowerMetrics", "MaxConsumedWatts")))
    .filter((watts) => watts !== undefined && watts > 0);
  return {
    source: supplies.length > 0 ? "management controller" : "nothing",
    supplies: listFact(
      supplies,
      isListed,
      supplies.length === 0
        ? "redfish lists no power supply"
        : `redfish counts ${stated} supplies and lists ${supplies.length}`,
    ),
    redundancyStated: fromValue(
      redundancy === undefined
        ? undefined
        : [
            asText(at(redundancy, "Mode")) ?? asText(at(redundancy, "RedundancyType")),
            asText(at(redundancy, "Status", "Health")),
          ]
            .filter((part) => part !== undefined)
            .join(", ") || undefined,
      "redfish states no redundancy",
    ),
    peakWatts: fromValue(
      peaks.length > 0 ? Math.max(...(peaks as number[])) : undefined,
      "redfish: no meter",
    ),
  };
}

function toSupply(row: unknown, index: number): PowerSupply {
  const state = asText(at(row, "Status", "State"));
  const health = asText(at(row, "Status", "Health"));
  const volts = asNumber(at(row, "LineInputVoltage"));
  const line = asText(at(row, "LineInputStatus"));
  return {
    name:
      asText(at(row, "MemberId")) ??
      asText(at(row, "Id")) ??
      asText(at(row, "Name")) ??
      `supply ${index + 1}`,
    isPresent:
      state === "Absent"
        ? known(false)
        : state === undefined
          ? unknown("redfish: no state of this supply")
          : known(true),
    hasInput: input(state, line, volts),
    isHealthy: fromValue(
      health === undefined ? undefined : health === "OK" && (state === "Enabled" || state === "StandbySpare"),
      "redfish: no health of this supply",
    ),
    capacityWatts: fromValue(
      asNumber(at(row, "PowerCapacityWatts")) || undefined,
      "redfish: no capacity of this supply",
    ),
  };
}

function input(
  state: string | undefined,
  line: string | undefined,
  volts: number | undefined,
): Fact<boolean> {
  if (state === "UnavailableOffline") return known(false);
  if (line !== undefined) return known(line === "Normal" || line === "InRange");
  if (volts !== undefined) return known(volts > 60);
  return unknown("redfish: no input voltage of this supply");
}
