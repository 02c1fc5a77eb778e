/**
 * The output of jobs: the executor rotates it by size and by day, a timer moves
 * what is old to the archive. Never in the record store.
 */
import { formatBytes } from "../../../base/bytes.ts";
import type { Provenance, Resource } from "../../resource.ts";
import { fromSetting, type HostContext } from "../host-context.ts";
import { directory as folder, linesFile, unit } from "../make-resource.ts";
import type { Section } from "../resolved-profile.ts";
import { unitValidator } from "../unit-validator.ts";
import { hardening } from "./daemon-unit.ts";
import type { Feature } from "./feature.ts";
import { executorUser, paths, toolkitUser } from "./paths.ts";

const service = "escapement-ship-logs.service";
const timer = "escapement-ship-logs.timer";

export const jobLogs: Feature<"jobLogs"> = (section, context) => {
  const { directory, maxFile, keepFiles } = section.value;
  const above = directory.slice(0, directory.lastIndexOf("/"));
  const resources: Resource[] = [
    // /var/log itself belongs to the system.
    ...(above.split("/").length > 3 ? [folder(above)] : []),
    folder(directory, {
      mode: 0o750,
      owner: executorUser,
      group: toolkitUser,
      after: [`user:${executorUser}`],
      provenance: [
        section.written("directory", directory),
        section.written("maxFile", formatBytes(maxFile)),
        section.written("keepFiles", keepFiles),
      ],
    }),
  ];
  const archive = context.text("logArchive");
  if (!archive) {
    context.note(
      "warning",
      `the inventory has no setting logArchive: the output of jobs on ${context.host.name} is kept in ${keepFiles} files a job and nowhere else`,
      section.placeOf("keepDays"),
    );
    return resources;
  }
  return [
    ...resources,
    ...shipping(section, context, archive.value, fromSetting("jobLogs.archive", archive)),
  ];
};

function shipping(
  section: Section<"jobLogs">,
  context: HostContext,
  archive: string,
  from: Provenance,
): readonly Resource[] {
  const { directory, keepDays, shipAt, keepMonths } = section.value;
  const endpoint = context.text("logArchiveEndpoint");
  const region = context.text("logArchiveRegion");
  const words = [
    ...["--from", directory],
    ...["--to", archive],
    ...["--older-than", `${keepDays}d`],
    ...["--keep-months", String(keepMonths)],
    ...["--host", context.host.name],
    ...(endpoint ? ["--endpoint", endpoint.value] : []),
    ...(region ? ["--region", region.value] : []),
  ];
  return [
    linesFile(`/etc/systemd/system/${service}`, {
      lines: [
        "[Unit]",
        "Description=Move old job output to the archive",
        "",
        "[Service]",
        "Type=oneshot",
        `ExecStart=${paths.current}/node ${paths.current}/escapement.mjs logs ship ${words.map(quoted).join(" ")}`,
        `User=${executorUser}`,
        "# Keys of an object store, where there is one; put there by hand, readable by root only.",
        `EnvironmentFile=-${paths.configuration}/ship-logs.env`,
        "Nice=10",
        "IOSchedulingClass=idle",
        ...hardening,
        "NoNewPrivileges=yes",
      ],
      after: [`directory:${directory}`],
      validator: unitValidator,
      provenance: [
        from,
        ...(endpoint ? [fromSetting("jobLogs.archiveEndpoint", endpoint)] : []),
        section.written("keepDays", keepDays),
        section.written("keepMonths", keepMonths),
      ],
    }),
    linesFile(`/etc/systemd/system/${timer}`, {
      lines: [
        "[Unit]",
        "Description=Move old job output to the archive",
        "",
        "[Timer]",
        `OnCalendar=${shipAt}`,
        "# Not every executor at the same instant; a host that was off catches up.",
        "RandomizedDelaySec=15min",
        "Persistent=true",
        "",
        "[Install]",
        "WantedBy=timers.target",
      ],
      after: [`file:/etc/systemd/system/${service}`],
      restarts: [{ unit: timer, action: "try-restart" }],
      provenance: [section.written("shipAt", shipAt)],
    }),
    unit(timer, { after: [`file:/etc/systemd/system/${timer}`] }),
  ];
}

/** One word of ExecStart: a percent sign is a specifier, a dollar sign a variable. */
function quoted(word: string): string {
  const escaped = word.replace(/[\\"]/g, "\\$&").replace(/%/g, "%%").replace(/\$/g, "$$$$");
  return /[\s"'\\;]/.test(word) ? `"${escaped}"` : escaped;
}
