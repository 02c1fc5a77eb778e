/** One place that knows every kind of resource: what to look at, and how to judge what was seen. */
import type { HostPaths, Probe } from "../bundle/probe.ts";
import type { Resource } from "../resource.ts";
import { cannotTell, type JudgeContext, type Judged } from "./judged.ts";
import {
  judgeKernelParameter,
  judgeSysctl,
  judgeTimeZone,
  kernelParameterProbes,
  sysctlProbes,
  timeZoneProbes,
} from "./kinds/kernel.ts";
import { judgeMountOption, mountProbes } from "./kinds/mount-option.ts";
import { judgeTable, tableProbes } from "./kinds/nft-table.ts";
import { fileProbe } from "./kinds/placed-file.ts";
import { judgeDirectory, judgeFile, judgeGroup, judgePackage, judgeUser } from "./kinds/plain.ts";
import { judgeSshdOption, sshdProbes } from "./kinds/sshd-option.ts";
import { judgeUnit } from "./kinds/unit.ts";

/** What has to be looked at for these resources. */
export function probesOf(resources: readonly Resource[]): Probe[] {
  return resources.flatMap((resource) => [
    ...(resource.unavailable === undefined ? ownProbes(resource) : []),
    ...resource.restarts.map(({ unit }): Probe => ({ kind: "unit", name: unit })),
  ]);
}

function ownProbes(resource: Resource): Probe[] {
  switch (resource.kind) {
    case "file":
      return [
        resource.absent ? { kind: "path", path: resource.path, wanted: "secret" } : fileProbe(resource),
      ];
    case "directory":
      return [{ kind: "path", path: resource.path }];
    case "package":
      return [{ kind: "package", name: resource.name }];
    case "group":
      return [{ kind: "group", name: resource.name }];
    case "user":
      return [{ kind: "user", name: resource.name }];
    case "unit":
      return [{ kind: "unit", name: resource.name }];
    case "sysctl":
      return sysctlProbes(resource);
    case "kernel-parameter":
      return kernelParameterProbes(resource);
    case "time-zone":
      return timeZoneProbes(resource);
    case "sshd-option":
      return sshdProbes(resource);
    case "mount-option":
      return mountProbes(resource);
    case "nft-table":
      return tableProbes(resource);
  }
}

export function judge(resource: Resource, context: JudgeContext, paths: HostPaths): Judged {
  if (resource.unavailable !== undefined) return cannotTell(resource.unavailable);
  switch (resource.kind) {
    case "file":
      return judgeFile(resource, context);
    case "directory":
      return judgeDirectory(resource, context);
    case "package":
      return judgePackage(resource, context);
    case "group":
      return judgeGroup(resource, context);
    case "user":
      return judgeUser(resource, context);
    case "unit":
      return judgeUnit(resource, context);
    case "sysctl":
      return judgeSysctl(resource, context);
    case "kernel-parameter":
      return judgeKernelParameter(resource, context);
    case "time-zone":
      return judgeTimeZone(resource, context);
    case "sshd-option":
      return judgeSshdOption(resource, context);
    case "mount-option":
      return judgeMountOption(resource, context);
    case "nft-table":
      return judgeTable(resource, context, paths);
  }
}
