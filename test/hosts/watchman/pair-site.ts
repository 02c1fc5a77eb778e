/** A small site whose watchman tells an HTTP receiver of the test, and jobs that a fault hits at once. */

import { createHmac } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import { siteJobs } from "./planted-jobs.ts";

export const hookKey = "only-in-this-lab";

export interface Told {
  readonly atMs: number;
  readonly phase: string;
  readonly key: string;
  readonly rule: string;
  readonly message: string;
}

/** Takes what is signed with the key of the site, on the address by which hosts of a lab reach this machine. */
export async function openReceiver(address: string): Promise<{ url: string; told: Told[]; close(): void }> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const signed = `${request.headers["escapement-timestamp"]}.${body}`;
      const expected = `sha256=${createHmac("sha256", hookKey).update(signed).digest("hex")}`;
      if (request.headers["escapement-signature"] !== expected) {
        response.statusCode = 401;
        response.end();
        return;
      }
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

const ledgerPassword = "only-in-this-lab";
/** Whoever waits for a lock of this database is cut short. */
const ledger = `CREATE ROLE ledger_job LOGIN PASSWORD '${ledgerPassword}';
ALTER ROLE ledger_job SET lock_timeout = '500ms';
`;

export function ledgerUrl({ hosts }: HostLab["state"]): string {
  const { address } = hosts.find(({ name }) => name === "store-1")!;
  return `postgresql://ledger_job:${ledgerPassword}@${address}:5432/ledger`;
}

/** @returns the inventory file */
export function pairSite(lab: HostLab, folder: string, receiver: string): string {
  const { state, hosts } = lab;
  mkdirSync(join(folder, "jobs"), { recursive: true });
  writeFileSync(join(folder, "jobs", "jobs.yaml"), siteJobs);
  writeFileSync(join(folder, "ledger.sql"), ledger);
  // Brought to the watchman's host with the watch file that names it.
  writeFileSync(join(folder, "hook.key"), `${hookKey}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "watch.yaml"), watchText(receiver));
  const lines = hosts.map(({ name, address, profile, failureDomain }) => {
    const settings = profile.startsWith("executor")
      ? ", settings: { cores: 32, memory: 256GiB }"
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
    jobDatabase: ledger
    jobDatabaseFile: ledger.sql
    proofJob: ops/minute
    watchFile: watch.yaml
  hosts:
${lines.join("\n")}
`,
  );
  return file;
}

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
