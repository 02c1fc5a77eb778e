/** UTC on every host, in software and in the hardware clock. */
import { isKnown } from "../../../base/fact.ts";
import { computed } from "../host-context.ts";
import { file } from "../make-resource.ts";
import type { Feature } from "./feature.ts";

export const timeZone: Feature<"timeZone"> = (section, context) => {
  const { zone } = section.value;
  const { rtcLocal } = context.facts.clock;
  const isLocal = isKnown(rtcLocal) && rtcLocal.known;
  return [
    {
      kind: "time-zone",
      id: "time-zone",
      zone,
      risk: "medium",
      noop: `the time zone is ${zone}`,
      after: [],
      restarts: [],
      provenance: [section.written("zone", zone)],
    },
    // Without this file the hardware clock is taken to run in UTC. Where it says so itself it holds
    // hwclock's measured drift too, and is left alone.
    ...(isLocal
      ? [
          file("/etc/adjtime", {
            content: "",
            absent: true,
            risk: "medium",
            provenance: [
              section.written("hardwareClock", section.value.hardwareClock),
              computed("timeZone.adjtime", "absent", "the hardware clock runs in local time (facts)"),
            ],
          }),
        ]
      : []),
  ];
};
