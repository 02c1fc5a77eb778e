/** A small site whose watchman tells an HTTP receiver of the test, and jobs that a fault hits at once. */

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";

export const hookKey = "only-in-this-lab";

export interface Told {
  readonly atMs: number;
  readonly phase: string;
  readonly key: string;
  readonly rule: string;
  readonly message: string;
}

/** Takes everything, on the address by which hosts of a lab reach this machine. */
export async function openReceiver(address: string): Promise<{ url: string; told: Told[]; close(): void }> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { kind, alert, alerts } = JSON.parse(body);
      for (const one of kind === "digest" ? alerts : [alert]) {
        const { phase, key, rule, message } = one as Told;
        told.push({ atMs: Date.now(), phase, key, rule, message });
      }
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://${address}:${port}`, told, close: () => void server.close() };
}

/** @returns the inventory file */
export function pairSite(lab: HostLab, folder: string, receiver: string): string {
  const { state, hosts } = lab;
  mkdirSync(join(folder, "jobs"), { recursive: true });
  writeFileSync(join(folder, "jobs", "jobs.yaml"), jobs);
  writeFileSync(join(folder, "watch.yaml"), watchText(receiver));
  const lines = hosts.map(({ name, address, profile, failureDomain }) => {
    const settings = profile.startsWith("executor")
      ? ", settings: { cores: 4, memory: 16GiB }"
      : profile === "record-store"
        ? ", settings: { cores: 2, memory: 2GiB }"
        : "";
    return `    - { name: ${name}, address: ${address}, profile: ${profile}, failureDomain: ${failureDomain}${settings} }`;
  });
  const file = join(folder, "pair.yaml");
  writeFileSync(
    file,
    `apiVersion: escapement/v1
kind: Inventory
metadata: { name: pair }
spec:
  defaults: { user: root, identityFile: id_ed25519, knownHostsFile: known_hosts }
  settings:
    virtualIp: ${state.virtualIp}/24
    virtualRouterId: 51
    timeSources: [${state.timeSources.join(", ")}]
    jobFiles: jobs
    proofJob: ops/minute
    watchFile: watch.yaml
  hosts:
${lines.join("\n")}
`,
  );
  return file;
}

const job = (name: string, rest: string) => `apiVersion: escapement/v1
kind: Job
metadata: { name: ${name}, namespace: ops }
spec:
  timeZone: UTC
  dstGap: run-at-transition
  dstOverlap: first
  retry: { maxAttempts: 3, delays: [1s] }
  lease: 15s
  timeout: 10m
  catchUp: { maxFires: 1, keep: oldest }
  shards: { by: none }
  resources: { class: cpu, peakMemory: 64MiB }
  effects: []
${rest}`;

const jobs = [
  job(
    "minute",
    `  command: ["true"]
  schedule: { every: 60s }
  misfire: { policy: run-now, threshold: 30s }
  blocking: { policy: allow }
`,
  ),
  job(
    "tick",
    `  command: ["true"]
  schedule: { every: 5s }
  misfire: { policy: skip, threshold: 5s }
  blocking: { policy: allow }
`,
  ),
  job(
    "long",
    `  command: [sleep, "300"]
  schedule: { manual: true }
  misfire: { policy: run-now, threshold: 1m }
  blocking: { policy: allow }
`,
  ),
].join("---\n");

function watchText(receiver: string): string {
  return `apiVersion: escapement/v1
kind: Watch
metadata: { name: pair }
spec:
  every: 5s
  startUpGrace: 0s
  spoolFile: /var/lib/escapement-watchman/spool
  thresholds: { silent: 20s }
  channels:
    - { name: ops, type: webhook, url: "${receiver}/in", secretFile: hook.key }
  delivery: { retryFirst: 1s, retryCap: 5s }
  routes:
    - channels: [ops]
`;
}
