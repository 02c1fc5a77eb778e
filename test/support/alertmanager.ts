/** A real Alertmanager of Debian's package, as an unprivileged process on this machine. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort } from "../../src/lab/free-port.ts";
import { spawnTethered } from "../../src/lab/tether.ts";
import { temporaryFolder, unprivilegedUser } from "../../src/lab/unprivileged-user.ts";
import { until } from "./until.ts";

const program = "/usr/bin/prometheus-alertmanager";

export const hasAlertmanager = existsSync(program);

export interface AlertmanagerAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly status: { readonly state: string };
}

export interface TestAlertmanager {
  readonly url: string;
  /** What it holds as active. */
  alerts(): Promise<readonly AlertmanagerAlert[]>;
}

/** @param webhook gets what Alertmanager tells its receivers, the ends included */
export async function startAlertmanager(webhook: string): Promise<TestAlertmanager> {
  const user = unprivilegedUser();
  const folder = temporaryFolder("alertmanager-", user);
  const port = await freePort();
  const config = join(folder, "config.yml");
  writeFileSync(
    config,
    JSON.stringify({
      route: {
        receiver: "test",
        group_by: ["key"],
        group_wait: "100ms",
        group_interval: "300ms",
        repeat_interval: "1h",
      },
      receivers: [{ name: "test", webhook_configs: [{ url: webhook, send_resolved: true }] }],
    }),
    { mode: 0o644 },
  );
  const url = `http://127.0.0.1:${port}`;
  const started = await spawnTethered({
    command: [
      program,
      `--config.file=${config}`,
      `--storage.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--cluster.listen-address=",
    ],
    environment: { PATH: process.env.PATH },
    user,
    workingFolder: folder,
  });
  onTestFinished(async () => {
    started.kill("SIGKILL");
    await started.exited;
    rmSync(folder, { recursive: true });
  });
  await until(async () => (await fetch(`${url}/-/ready`)).ok, { what: "Alertmanager to be ready" });
  return {
    url,
    alerts: async () =>
      (await (await fetch(`${url}/api/v2/alerts?active=true`)).json()) as AlertmanagerAlert[],
  };
}
