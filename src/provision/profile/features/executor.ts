/** The executor's service, its user, its folders and the list of users its jobs may run as. */
import { formatBytes } from "../../../base/bytes.ts";
import { formatDuration } from "../../../base/duration.ts";
import { isKnown } from "../../../hardware/fact.ts";
import { computed, fromSetting } from "../host-context.ts";
import { directory, linesFile, systemGroup, systemUser } from "../make-resource.ts";
import { daemonUnit, hardening } from "./daemon-unit.ts";
import { planSlots } from "./executor-slots.ts";
import type { Feature } from "./feature.ts";
import { executorUser, jobsSlice, paths, toolkitUser } from "./paths.ts";

export const executor: Feature<"executor"> = (section, context) => {
  const { workDirectory, logDirectory, stopTimeout, oomPolicy, oomScore, jobOomScore, httpPort, mainClass } =
    section.value;
  const slots = planSlots(section, context);
  if (isKnown(slots) && slots.known.cpu + slots.known.memory + slots.known.io === 0) {
    context.note(
      "error",
      `${context.host.name} is too small for a single attempt: ${slots.known.provenance.find(({ key }) => key === `executor.slots.${mainClass}`)?.because}`,
      section.placeOf(`${mainClass}.peakMemory`),
    );
  }
  const users = context.list("jobUsers");
  return [
    systemGroup(executorUser),
    systemUser(executorUser, { groups: [toolkitUser], home: paths.state }),
    directory(workDirectory, {
      mode: 0o755,
      owner: executorUser,
      group: executorUser,
      after: [`user:${executorUser}`],
      provenance: [section.written("workDirectory", workDirectory)],
    }),
    ...parents(logDirectory).map((one) => directory(one)),
    directory(logDirectory, {
      mode: 0o750,
      owner: executorUser,
      group: toolkitUser,
      after: [`user:${executorUser}`],
      provenance: [section.written("logDirectory", logDirectory)],
    }),
    linesFile(paths.jobUsers, {
      lines: ["# One user a line. Jobs run as nobody else.", ...(users?.value ?? [])],
      mode: 0o644,
      risk: "high",
      after: [`directory:${paths.configuration}`],
      provenance: users
        ? [fromSetting("executor.jobUsers", users)]
        : [
            computed(
              "executor.jobUsers",
              "(none)",
              "the inventory has no setting jobUsers: jobs run as the executor itself",
            ),
          ],
    }),
    ...daemonUnit({
      name: "executor",
      description: "Escapement executor",
      node: context.host.name,
      user: executorUser,
      serviceLines: [
        `Slice=${jobsSlice}`,
        // One job out of memory must not end the others.
        `OOMPolicy=${oomPolicy}`,
        `OOMScoreAdjust=${oomScore}`,
        `Environment=ESCAPEMENT_JOB_OOM_SCORE=${jobOomScore}`,
        // The executor stops its children itself, and its supervisor outlives it for as long as that takes.
        "KillMode=mixed",
        `TimeoutStopSec=${Math.ceil(stopTimeout / 1_000)}s`,
        "Delegate=yes",
        // The output of jobs goes to files; what the executor itself says must not be dropped.
        "LogRateLimitIntervalSec=0",
        ...hardening,
      ],
      after: [`user:${executorUser}`, `file:/etc/systemd/system/${jobsSlice}`, `directory:${workDirectory}`],
      provenance: [
        section.written("mainClass", mainClass),
        section.written("httpPort", httpPort),
        section.written("oomPolicy", oomPolicy),
        section.written("oomScore", oomScore),
        section.written("jobOomScore", jobOomScore),
        section.written("stopTimeout", formatDuration(stopTimeout)),
        ...(isKnown(slots)
          ? [
              ...slots.known.provenance,
              computed(
                "executor.memory",
                formatBytes(slots.known.memoryBytes),
                "the sum over all slots of peak × 1.5",
              ),
            ]
          : []),
      ],
    }),
  ];
};

/** Folders above one that are ours to make. */
function parents(path: string): readonly string[] {
  const above = path.slice(0, path.lastIndexOf("/"));
  return above.split("/").length > 3 ? [above] : [];
}
