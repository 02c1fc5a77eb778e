/**
 * Where drills of the timetable run: an executor on the watchman's host that
 * takes nothing else. It is there where the inventory names a drill key.
 */
import type { Resource } from "../../resource.ts";
import type { HostContext } from "../host-context.ts";
import { directory, systemGroup, systemUser } from "../make-resource.ts";
import type { Section } from "../resolved-profile.ts";
import { daemonUnit, hardening } from "./daemon-unit.ts";
import { executorUser, paths, toolkitUser } from "./paths.ts";

export const controllerWorkDirectory = "/var/lib/escapement-executor";
const jobOutput = "/var/log/escapement/jobs";
/** Executor, supervisor and the process of one drill. */
const memoryMaxBytes = 1_073_741_824;
const tasksMax = 128;

/** Slots for drills on this host; 0 where it runs none, or is an executor anyway. */
export function controlSlotsOf(section: Section<"watchman"> | undefined, context: HostContext): number {
  if (!section || context.roles.has("executor") || !context.text("drillPublicKey")) return 0;
  return section.value.controlSlots ?? 0;
}

export function drillController(section: Section<"watchman">, context: HostContext): readonly Resource[] {
  if (controlSlotsOf(section, context) === 0) return [];
  const own = { owner: executorUser, group: executorUser, after: [`user:${executorUser}`] };
  return [
    systemGroup(executorUser),
    systemUser(executorUser, { groups: [toolkitUser], home: controllerWorkDirectory }),
    directory(controllerWorkDirectory, own),
    directory("/var/log/escapement"),
    directory(jobOutput, { ...own, group: toolkitUser, mode: 0o750 }),
    ...daemonUnit({
      name: "executor",
      description: "Escapement executor for drills",
      node: context.host.name,
      user: executorUser,
      serviceLines: [
        `MemoryMax=${memoryMaxBytes}`,
        `TasksMax=${tasksMax}`,
        "# The executor stops its children itself; its supervisor may outlive it for as long as that takes.",
        "KillMode=mixed",
        ...hardening,
        "NoNewPrivileges=yes",
        "PrivateTmp=yes",
        "PrivateDevices=yes",
        "ProtectHome=yes",
        "RestrictSUIDSGID=yes",
        "CapabilityBoundingSet=",
      ],
      after: [
        `user:${executorUser}`,
        `directory:${controllerWorkDirectory}`,
        `directory:${jobOutput}`,
        `directory:${paths.configuration}`,
      ],
      provenance: [section.written("controlSlots", section.value.controlSlots ?? 0)],
    }),
  ];
}
