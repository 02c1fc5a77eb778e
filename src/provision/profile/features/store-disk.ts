/** How much room the store's host has: written into the store every minute, judged by the watchman. */
import type { Resource } from "../../resource.ts";
import { linesFile, unit } from "../make-resource.ts";
import { unitValidator } from "../unit-validator.ts";
import { hardening } from "./daemon-unit.ts";
import { paths } from "./paths.ts";

const service = "escapement-store-disk.service";
const timer = "escapement-store-disk.timer";

/** As postgres, through its own socket: no password, and it may ask where the data are. */
export function storeDiskReport(options: {
  readonly database: string;
  readonly port: number;
  readonly after: string;
}): readonly Resource[] {
  const { database, port, after } = options;
  const url = `postgres://postgres@/${database}?host=/var/run/postgresql&port=${port}`;
  return [
    linesFile(`/etc/systemd/system/${service}`, {
      lines: [
        "[Unit]",
        "Description=Report the room of the record store's host",
        "",
        "[Service]",
        "Type=oneshot",
        `ExecStart=${paths.current}/node ${paths.current}/escapement.mjs store report-disk --url "${url}"`,
        "User=postgres",
        "TimeoutStartSec=30s",
        "Nice=10",
        ...hardening,
        "NoNewPrivileges=yes",
      ],
      after: [after],
      validator: unitValidator,
    }),
    linesFile(`/etc/systemd/system/${timer}`, {
      lines: [
        "[Unit]",
        "Description=Report the room of the record store's host",
        "",
        "[Timer]",
        "OnActiveSec=10s",
        "OnUnitActiveSec=60s",
        "AccuracySec=1s",
        "",
        "[Install]",
        "WantedBy=timers.target",
      ],
      after: [`file:/etc/systemd/system/${service}`],
      restarts: [{ unit: timer, action: "try-restart" }],
    }),
    unit(timer, { after: [`file:/etc/systemd/system/${timer}`] }),
  ];
}
