/** The output of jobs: rotated on the host, then shipped to an archive by a timer. Never in the record store. */
import { formatBytes } from "../../../base/bytes.ts";
import type { Resource } from "../../resource.ts";
import { fromSetting } from "../host-context.ts";
import { linesFile, packageOf, unit } from "../make-resource.ts";
import { hardening } from "./daemon-unit.ts";
import type { Feature } from "./feature.ts";
import { executorUser, paths, toolkitUser } from "./paths.ts";

const rotation = "/etc/logrotate.d/escapement";
const shipping = "/etc/escapement/ship-logs.conf";
const service = "escapement-ship-logs.service";
const timer = "escapement-ship-logs.timer";

export const jobLogs: Feature<"jobLogs"> = (section, context) => {
  const { directory, keepDays, rotateAt, shipAt, keepMonths } = section.value;
  const archive = context.text("logArchive");
  if (!archive)
    context.note(
      "warning",
      `the inventory has no setting logArchive: job output is gone after ${keepDays} days on ${context.host.name}`,
      section.placeOf("keepDays"),
    );
  const resources: Resource[] = [
    packageOf("logrotate"),
    linesFile(rotation, {
      lines: [
        `${directory}/*.log ${directory}/*/*.log {`,
        "    daily",
        `    rotate ${keepDays}`,
        `    maxage ${keepDays}`,
        `    maxsize ${rotateAt}`,
        "    dateext",
        "    dateformat -%Y%m%d-%s",
        "    compress",
        "    # A file that is written to right now is compressed the next time.",
        "    delaycompress",
        "    missingok",
        "    notifempty",
        "    nocreate",
        `    su ${executorUser} ${toolkitUser}`,
        "}",
      ],
      after: ["package:logrotate"],
      validator: { name: "logrotate -d", argv: ["logrotate", "-d", "{file}"] },
      provenance: [
        section.written("directory", directory),
        section.written("keepDays", keepDays),
        section.written("rotateAt", formatBytes(rotateAt)),
      ],
    }),
  ];
  if (!archive) return resources;
  resources.push(
    linesFile(shipping, {
      lines: [`from=${directory}`, `to=${archive.value}`, `keepMonths=${keepMonths}`],
      mode: 0o640,
      group: toolkitUser,
      after: [`directory:${paths.configuration}`],
      provenance: [fromSetting("jobLogs.archive", archive), section.written("keepMonths", keepMonths)],
    }),
    linesFile(`/etc/systemd/system/${service}`, {
      lines: [
        "[Unit]",
        "Description=Ship rotated job output to the archive",
        "",
        "[Service]",
        "Type=oneshot",
        `ExecStart=${paths.current}/node ${paths.current}/escapement.mjs logs ship --config ${shipping}`,
        `User=${executorUser}`,
        // Keys of an S3-compatible store, where there is one; put there by hand.
        `EnvironmentFile=-${paths.configuration}/ship-logs.env`,
        "Nice=10",
        "IOSchedulingClass=idle",
        ...hardening,
        "NoNewPrivileges=yes",
      ],
      after: [`file:${shipping}`],
      validator: { name: "systemd-analyze verify", argv: ["systemd-analyze", "verify", "{file}"] },
    }),
    linesFile(`/etc/systemd/system/${timer}`, {
      lines: [
        "[Unit]",
        "Description=Ship rotated job output to the archive",
        "",
        "[Timer]",
        `OnCalendar=${shipAt}`,
        "RandomizedDelaySec=15min",
        "# A host that was off catches up.",
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
  );
  return resources;
};
