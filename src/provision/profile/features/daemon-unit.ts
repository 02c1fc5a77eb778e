/** The service file of one of our daemons. */

import type { Provenance, Resource, Restart } from "../../resource.ts";
import { linesFile, unit } from "../make-resource.ts";
import { unitValidator } from "../unit-validator.ts";
import { paths } from "./paths.ts";

export interface DaemonUnit {
  readonly name: "scheduler" | "executor" | "watchman";
  readonly description: string;
  readonly node: string;
  readonly user: string;
  /** Of its command, besides the cluster file and the node. */
  readonly options?: readonly string[];
  /** Lines of [Unit] besides the common ones. */
  readonly unitLines?: readonly string[];
  /** Lines of [Service] besides the common ones. */
  readonly serviceLines: readonly string[];
  readonly after: readonly string[];
  readonly provenance: readonly Provenance[];
  readonly unavailable?: string | undefined;
}

/** What no batch daemon needs. None of it keeps a job from reading or writing where its user may. */
export const hardening = [
  // A job must not be able to step the clock that decides when jobs run.
  "ProtectClock=yes",
  "ProtectSystem=full",
  "ProtectKernelTunables=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelLogs=yes",
  "ProtectHostname=yes",
  "RestrictRealtime=yes",
  "LockPersonality=yes",
];

/** The service file and the service. */
export function daemonUnit(daemon: DaemonUnit): readonly Resource[] {
  const service = `escapement-${daemon.name}.service`;
  const path = `/etc/systemd/system/${service}`;
  const restart: Restart = {
    unit: service,
    action: "try-restart",
    ...(daemon.name === "scheduler" && { unless: "active-scheduler" }),
  };
  const lines = [
    "[Unit]",
    `Description=${daemon.description}`,
    "Wants=network-online.target",
    "After=network-online.target",
    ...(daemon.unitLines ?? []),
    // A store that is away, or a wrong file, must never stop the restarts for good.
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=simple",
    `ExecStart=${paths.current}/node ${paths.current}/escapement.mjs ${[daemon.name, "--cluster", paths.clusterFile, "--node", daemon.node, ...(daemon.options ?? [])].join(" ")}`,
    `User=${daemon.user}`,
    "Restart=always",
    "RestartSec=2s",
    "Environment=TZ=UTC NODE_ENV=production",
    ...daemon.serviceLines,
    "",
    "[Install]",
    "WantedBy=multi-user.target",
  ];
  return [
    linesFile(path, {
      lines,
      risk: "medium",
      restarts: [restart],
      after: daemon.after,
      provenance: daemon.provenance,
      unavailable: daemon.unavailable,
      validator: unitValidator,
    }),
    unit(service, { risk: "medium", after: [`file:${path}`, `file:${paths.clusterFile}`] }),
  ];
}
