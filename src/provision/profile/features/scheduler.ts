/** The scheduler's service: small, first in line for the processor, last to be killed, and never before the clock is right. */
import { formatBytes } from "../../../base/bytes.ts";
import { computed } from "../host-context.ts";
import { daemonUnit, hardening } from "./daemon-unit.ts";
import type { Feature } from "./feature.ts";
import { toolkitUser } from "./paths.ts";

export const scheduler: Feature<"scheduler"> = (section, context) => {
  const { memoryMax, cpuWeight, tasksMax, oomScore, httpPort } = section.value;
  const waits = context.roles.has("clock") && context.container === undefined;
  return daemonUnit({
    name: "scheduler",
    description: "Escapement scheduler",
    node: context.host.name,
    user: toolkitUser,
    unitLines: waits ? ["Requires=chrony-wait.service", "After=chrony-wait.service time-sync.target"] : [],
    serviceLines: [
      `MemoryMax=${memoryMax}`,
      "MemorySwapMax=0",
      `CPUWeight=${cpuWeight}`,
      `TasksMax=${tasksMax}`,
      `OOMScoreAdjust=${oomScore}`,
      "TimeoutStopSec=30s",
      ...hardening,
      "NoNewPrivileges=yes",
      "PrivateTmp=yes",
      "PrivateDevices=yes",
      "ProtectHome=yes",
      "ProtectControlGroups=yes",
      "RestrictSUIDSGID=yes",
      "CapabilityBoundingSet=",
    ],
    after: [`user:${toolkitUser}`],
    provenance: [
      section.written("httpPort", httpPort),
      section.written("memoryMax", formatBytes(memoryMax)),
      section.written("cpuWeight", cpuWeight),
      section.written("tasksMax", tasksMax),
      section.written("oomScore", oomScore),
      computed(
        "scheduler.waitsForClock",
        waits ? "yes" : "no",
        waits
          ? "the clock may step at boot only, so the scheduler starts after chrony-wait"
          : `container: ${context.container ?? "this profile has no clock section"}; its clock is that of the machine below and cannot be stepped from inside`,
      ),
    ],
  });
};
