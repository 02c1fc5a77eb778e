/** The watchman's service, and its watch file. */
import { basename } from "node:path";
import { formatBytes } from "../../../base/bytes.ts";
import { daemonUnit, hardening } from "./daemon-unit.ts";
import { drillController } from "./drill-controller.ts";
import type { Feature } from "./feature.ts";
import { toolkitUser } from "./paths.ts";
import { watchFilesFor, watchState } from "./watch-file.ts";

export const watchman: Feature<"watchman"> = (section, context) => {
  const { memoryMax, cpuWeight, tasksMax, oomScore, httpPort } = section.value;
  const files = watchFilesFor(context);
  const unit = daemonUnit({
    name: "watchman",
    description: "Escapement watchman",
    node: context.host.name,
    user: toolkitUser,
    // A watch file says nothing about the host it is used on.
    options: ["--http", `0.0.0.0:${httpPort}`],
    serviceLines: [
      `MemoryMax=${memoryMax}`,
      `CPUWeight=${cpuWeight}`,
      `TasksMax=${tasksMax}`,
      `OOMScoreAdjust=${oomScore}`,
      ...hardening,
      "NoNewPrivileges=yes",
      "PrivateTmp=yes",
      "PrivateDevices=yes",
      "ProtectHome=yes",
      "RestrictSUIDSGID=yes",
      "CapabilityBoundingSet=",
      `StateDirectory=${basename(watchState)}`,
    ],
    after: [`user:${toolkitUser}`, ...files.map(({ id }) => id)],
    provenance: [
      section.written("httpPort", httpPort),
      section.written("memoryMax", formatBytes(memoryMax)),
      section.written("cpuWeight", cpuWeight),
      section.written("tasksMax", tasksMax),
      section.written("oomScore", oomScore),
    ],
  });
  return [...files, ...unit, ...drillController(section, context)];
};
