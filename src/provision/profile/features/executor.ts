/** The executor's service, its user and folder, and what its jobs may run as. */
import { formatBytes } from "../../../base/bytes.ts";
import { formatDuration } from "../../../base/duration.ts";
import { isKnown } from "../../../base/fact.ts";
import { computed, type HostContext } from "../host-context.ts";
import { directory, systemGroup, systemUser } from "../make-resource.ts";
import { daemonUnit } from "./daemon-unit.ts";
import { planSlots } from "./executor-slots.ts";
import type { Feature } from "./feature.ts";
import { jobUsers } from "./job-users.ts";
import { executorUser, jobsSlice, toolkitUser } from "./paths.ts";

export const executorFor = (isolation: "none" | "scope" | undefined): Feature<"executor"> => {
  return (section, context) => {
    const { workDirectory, stopTimeout, oomPolicy, oomScore, httpPort, mainClass } = section.value;
    const slots = planSlots(section, context);
    return [
      systemGroup(executorUser),
      systemUser(executorUser, { groups: [toolkitUser], home: workDirectory }),
      directory(workDirectory, {
        owner: executorUser,
        group: executorUser,
        after: [`user:${executorUser}`],
        provenance: [section.written("workDirectory", workDirectory)],
      }),
      ...jobUsers(context),
      ...daemonUnit({
        name: "executor",
        description: "Escapement executor",
        node: context.host.name,
        user: executorUser,
        serviceLines: [
          ...(isolation === "scope"
            ? ["# Its jobs run in scopes below the jobs slice, started through sudo."]
            : [`Slice=${jobsSlice}`]),
          "# One job that runs out of memory must not end the others.",
          `OOMPolicy=${oomPolicy}`,
          `OOMScoreAdjust=${oomScore}`,
          "# The executor stops its children itself; its supervisor may outlive it for as long as that takes.",
          "KillMode=mixed",
          `TimeoutStopSec=${Math.ceil(stopTimeout / 1_000)}s`,
          "Delegate=yes",
          "# Nothing the executor says may be dropped; the output of jobs goes to files.",
          "LogRateLimitIntervalSec=0",
          ...executorHardening,
        ],
        after: [
          `user:${executorUser}`,
          `file:/etc/systemd/system/${jobsSlice}`,
          `directory:${workDirectory}`,
        ],
        provenance: [
          section.written("mainClass", mainClass),
          section.written("httpPort", httpPort),
          section.written("oomPolicy", oomPolicy),
          section.written("oomScore", oomScore),
          section.written("stopTimeout", formatDuration(stopTimeout)),
          ...(isKnown(slots) ? memoryOf(slots.known.memoryBytes) : []),
        ],
      }),
      ...tooSmall(section.placeOf(`${mainClass}.peakMemory`), slots, mainClass, context),
    ];
  };
};

/**
 * sudo gains rights, so nothing here may forbid that, and ProtectClock and its
 * like would. The bounding set holds for what sudo starts as well: nothing
 * below the executor can set the clock, load a module or reboot.
 */
const executorHardening = [
  "ProtectSystem=full",
  "CapabilityBoundingSet=~CAP_SYS_TIME CAP_WAKE_ALARM CAP_SYS_MODULE CAP_SYS_RAWIO CAP_SYS_BOOT CAP_SYSLOG",
];

function memoryOf(bytes: number) {
  return [computed("executor.memory", formatBytes(bytes), "the sum over all slots of peak × 1.5")];
}

function tooSmall(
  at: Parameters<HostContext["note"]>[2],
  slots: ReturnType<typeof planSlots>,
  mainClass: string,
  context: HostContext,
): readonly never[] {
  if (!isKnown(slots) || slots.known.cpu + slots.known.memory + slots.known.io > 0) return [];
  const why = slots.known.provenance.find(({ key }) => key === `executor.slots.${mainClass}`)?.because;
  context.note("error", `${context.host.name} is too small for a single attempt: ${why}`, at);
  return [];
}
