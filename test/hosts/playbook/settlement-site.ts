/**
 * A site around the settlement example: an inventory for the hosts of a lab, the
 * jobs, their programs as single files, and the ledger with some payments in it.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const example = fileURLToPath(new URL("../../../examples/settlement/", import.meta.url));
const password = "only-in-this-lab";

export interface SiteHost {
  readonly name: string;
  readonly profile: string;
  readonly address: string;
  readonly failureDomain: string;
}

export interface SiteOptions {
  /** Where the inventory goes; the lab's key and known hosts are there. */
  readonly folder: string;
  readonly hosts: readonly SiteHost[];
  /** Without the length of its prefix. */
  readonly virtualIp: string;
  readonly timeSources: readonly string[];
}

/** The month before this one: a run by hand settles that. */
const month = monthBefore(new Date());
export const suppliers = 40;
export const payments = 2_000;

/** @returns the inventory file */
export async function settlementSite({
  folder,
  hosts,
  virtualIp,
  timeSources,
}: SiteOptions): Promise<string> {
  const store = hosts.find((host) => host.profile === "record-store")!;
  await build({
    entryPoints: [join(example, "settle.mjs"), join(example, "snapshot.mjs")],
    outdir: join(folder, "settlement"),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    external: ["pg-native"],
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    logLevel: "warning",
  });
  mkdirSync(join(folder, "jobs"), { recursive: true });
  for (const source of ["settle.mjs", "snapshot.mjs", "attempt.mjs"])
    cpSync(join(example, source), join(folder, "sources", source));
  writeFileSync(join(folder, "README.md"), page);
  const ledger = `postgresql://ledger_job:${password}@${store.address}:5432/ledger`;
  writeFileSync(join(folder, "jobs", "settlement.yaml"), jobs(ledger));
  writeFileSync(join(folder, "ledger.sql"), ledgerText());
  const file = join(folder, "site.yaml");
  writeFileSync(file, inventory(hosts, virtualIp, timeSources));
  return file;
}

function ledgerText(): string {
  return `${readFileSync(join(example, "ledger.sql"), "utf8")}
ALTER ROLE ledger_job PASSWORD '${password}';
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ledger_job;
INSERT INTO payment SELECT 'f', n, '${month}', '${month}-15', 'u', 'S-' || lpad((n % ${suppliers})::text, 4, '0'), 100 + n
FROM generate_series(1, ${payments}) n;
`;
}

const page = `# Settlement

## Missed fires

Both jobs are run-now: late is better than never.
`;

function jobs(ledger: string): string {
  const common = `    timeZone: UTC
    dstGap: run-at-transition
    dstOverlap: first
    retry: { maxAttempts: 4, delays: [1s, 5s, 30s] }
    lease: 30s
    timeout: 5m
    docs: README.md#missed-fires
    workingDirectory: /opt/escapement-jobs/settlement`;
  const indent = (text: string) => text.replaceAll(/^ {4}/gm, "  ");
  return `apiVersion: escapement/v1
kind: Job
metadata: { name: settlement, namespace: finance }
spec:
${indent(common)}
  command: [/opt/escapement/current/node, settle.mjs]
  environment: { LEDGER_URL: "${ledger}", PACE_MS: "300" }
  schedule: { cron: "0 2 1 * *" }
  period: { unit: month, offset: -1 }
  misfire: { policy: run-now, threshold: 1m }
  blocking: { policy: queue, maxQueued: 12 }
  catchUp: { maxFires: 3, keep: oldest }
  shards: { by: hash, count: 16, key: supplier_id, heavy: [S-0001] }
  resources: { class: cpu, peakMemory: 128MiB }
  effects:
    - { kind: table, target: ledger.settlement, key: [period, supplier_id], mode: replace, sources: [sources/settle.mjs, sources/attempt.mjs] }
---
apiVersion: escapement/v1
kind: Job
metadata: { name: refresh, namespace: finance }
spec:
  description: One row at every fire, in a table without a unique key, where what was lost or doubled is seen.
${indent(common)}
  command: [/bin/sh, -c, "sleep 1; exec /opt/escapement/current/node snapshot.mjs"]
  environment: { LEDGER_URL: "${ledger}" }
  schedule: { cron: "*/3 * * * * *" }
  misfire: { policy: run-now, threshold: 1m }
  blocking: { policy: allow }
  catchUp: { maxFires: 5, keep: oldest }
  shards: { by: none }
  resources: { class: io, peakMemory: 128MiB }
  effects:
    - { kind: table, target: ledger.snapshot, key: [job, fire_time], mode: replace, sources: [sources/snapshot.mjs, sources/attempt.mjs] }
`;
}

function inventory(hosts: readonly SiteHost[], virtualIp: string, timeSources: readonly string[]): string {
  const extra = (profile: string) =>
    profile.startsWith("executor")
      ? "\n      settings: { cores: 8, memory: 64GiB }"
      : profile === "record-store"
        ? "\n      settings: { cores: 2, memory: 2GiB }"
        : "";
  return `apiVersion: escapement/v1
kind: Inventory
metadata: { name: site }
spec:
  defaults: { user: root, identityFile: id_ed25519, knownHostsFile: known_hosts }
  settings:
    virtualIp: ${virtualIp}/24
    virtualRouterId: 51
    timeSources: [${timeSources.join(", ")}]
    jobDatabase: ledger
    jobDatabaseFile: ledger.sql
    jobPrograms: settlement
    jobFiles: jobs
    proofJob: finance/settlement
  hosts:
${hosts
  .map(
    ({ name, address, profile, failureDomain }) =>
      `    - name: ${name}\n      address: ${address}\n      profile: ${profile}\n      failureDomain: ${failureDomain}${extra(profile)}\n`,
  )
  .join("")}`;
}

function monthBefore(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)).toISOString().slice(0, 7);
}
