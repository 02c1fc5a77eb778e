/**
 * What the checklist asks for beyond a cluster that runs: a watchman in a failure
 * domain of its own that is heard, a login, a month end on record, rehearsals, a
 * backup that was restored. Each is done by the commands that people use.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ChecklistReport } from "../../../src/checklist/report-schema.ts";
import { localAddressTowards } from "../../../src/cli/drill/local-address.ts";
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import { until } from "../../support/until.ts";
import type { OwnCopy } from "../playbook/own-copy.ts";
import { shell } from "../provision/lab-targets.ts";

const password = "only-in-this-lab";
const hookKey = "only-in-this-lab";

/** Adds to an inventory, before the cluster is made, what the checklist needs. Writes the watch file beside it. */
export function wellWatched(folder: string, inventory: string, outside: string): string {
  writeFileSync(
    join(folder, "watch.yaml"),
    `apiVersion: escapement/v1
kind: Watch
metadata: { name: site }
spec:
  every: 10s
  spoolFile: /var/lib/escapement-watchman/spool
  channels:
    - { name: ops, type: webhook, url: "${outside}/alert", secretFile: hook.key }
  routes:
    - channels: [ops]
  heartbeat: { url: "${outside}/beat", every: 1m }
  testAlert: { cron: "* * * * *", zone: UTC, within: 5m }
`,
  );
  return inventory
    .replace(/^ {2}settings:$/m, "  settings:\n    watchFile: watch.yaml")
    .replace(/(- name: watch-1\n(?: {6}.*\n)*? {6}failureDomain: ).*/, "$1rack-3");
}

export interface CheckedSiteOptions {
  readonly lab: HostLab;
  readonly own: OwnCopy;
  readonly folder: string;
  readonly inventory: string;
  readonly clusterFile: string;
  /** For hosts that are slow to answer. Default: the program's own. */
  readonly itemTimeout?: string;
}

/** Of a month that is over, so that nobody has settled it yet. */
function monthEnd(now = new Date()): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1, 2)).toISOString();
}

export class CheckedSite {
  readonly #options: CheckedSiteOptions;
  #url = "";

  constructor(options: CheckedSiteOptions) {
    this.#options = options;
  }

  /** Everything that people do once, or every week, before the checklist can pass. */
  async prepare(): Promise<void> {
    await this.#key();
    await this.#login();
    await this.#monthEnds();
    await this.#rehearsals();
    await this.#backups();
    await this.#commit();
  }

  /** Runs the gate as a pipeline does. */
  async gate(...more: string[]): Promise<{ readonly code: number | null; readonly report: ChecklistReport }> {
    const { folder, inventory, clusterFile, own, itemTimeout } = this.#options;
    const { status, stdout, stderr } = await own.run(
      [
        ...["checklist", "jobs", "--gate", "--json", "--quiet", "--cluster", clusterFile, "-i", inventory],
        ...["--waivers", "waivers.yaml", "--url", this.#url, ...more],
        ...(itemTimeout === undefined ? [] : ["--item-timeout", itemTimeout]),
      ],
      { cwd: folder },
    );
    expect(stdout, stderr).not.toBe("");
    return { code: status, report: JSON.parse(stdout) as ChecklistReport };
  }

  /** Until the watchman has sent its first test alert and its first heartbeat. */
  async isWatched(): Promise<void> {
    let last: ChecklistReport | undefined;
    await until(
      async () => {
        last = (await this.gate("--item", "8")).report;
        return last.items[0]!.verdict === "pass";
      },
      { deadlineMs: 300_000, everyMs: 5_000, what: "a watchman that is heard" },
    ).catch((error: unknown) => {
      throw new Error(`${error}: ${last?.reasons.join("; ")}`);
    });
  }

  #on(host: string, line: string): Promise<string> {
    return shell(this.#options.lab, host, line);
  }

  get #store() {
    return this.#options.lab.hosts.find(({ profile }) => profile === "record-store")!;
  }

  /** A secret is no part of a profile: it is put there by hand. */
  async #key(): Promise<void> {
    await this.#on(
      "watch-1",
      `umask 027; printf %s ${hookKey} > /etc/escapement/hook.key; chgrp escapement /etc/escapement/hook.key`,
    );
  }

  /** The one login of docs/checklist.md, and a way in for it, for a pipeline here and a rehearsal on an executor. */
  async #login(): Promise<void> {
    const here = await localAddressTowards(this.#store.address);
    const executor = this.#options.lab.hosts.find(({ name }) => name === "exec-1")!.address;
    await this.#on(
      "store-1",
      `cat >> /etc/postgresql/15/main/pg_hba.conf <<'LINES'
host escapement checklist ${here}/32 scram-sha-256
host escapement,scratch all ${executor}/32 scram-sha-256
LINES
nft insert rule inet escapement input ip saddr ${here} tcp dport 5432 accept
cd / && runuser -u postgres -- psql -XAtqc "CREATE ROLE checklist LOGIN PASSWORD '${password}'" -c "SELECT pg_reload_conf()"
${asOwner} store grant checklist --as checklist`,
    );
    this.#url = `postgresql://checklist:${password}@${this.#store.address}:5432/escapement`;
  }

  /** A cluster that is an hour old has seen no month end: one is run by hand. */
  async #monthEnds(): Promise<void> {
    for (const job of ["finance/settlement", "finance/refresh"])
      await this.#on(
        "store-1",
        `${asOwner} run ${job} --fire-time ${monthEnd()} --reason 'the last month end' --wait`,
      );
  }

  /** Where the programs are, in a copy of the ledger. */
  async #rehearsals(): Promise<void> {
    await this.#on(
      "store-1",
      `cd / && runuser -u postgres -- sh -c 'createdb scratch && pg_dump ledger | psql -Xqd scratch >/dev/null && psql -Xqd scratch -c "TRUNCATE settlement, snapshot" -c "GRANT ALL ON ALL TABLES IN SCHEMA public TO checklist"'`,
    );
    const { lab, folder } = this.#options;
    const files = execFileSync("tar", ["-C", folder, "-c", "jobs", "sources", "README.md"]);
    await lab.exec("exec-1", ["sh", "-c", "mkdir -p /srv/site && base64 -d | tar -C /srv/site -x"], {
      input: files.toString("base64"),
    });
    const scratch = (login: string) =>
      `postgresql://${login}:${password}@${this.#store.address}:5432/scratch`;
    for (const job of ["finance/settlement", "finance/refresh"])
      await this.#on(
        "exec-1",
        `cd /srv/site && escapement checklist rehearse ${job} jobs --set LEDGER_URL=${scratch("ledger_job")} --set PACE_MS=0 --look ${scratch("checklist")} --url ${this.#url}`,
      );
  }

  async #backups(): Promise<void> {
    await this.#on(
      "store-1",
      `${asOwner} store record-backup --what 'base backup to another room' --bytes 1000000
${asOwner} store rehearse-restore`,
    );
  }

  /** A release is of a commit. The lab has no standby: that is waived, for a month. */
  async #commit(): Promise<void> {
    const { folder, inventory } = this.#options;
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    writeFileSync(
      join(folder, "waivers.yaml"),
      `apiVersion: escapement/v1
kind: Waivers
metadata: { name: lab }
spec:
  waivers:
    - item: 0
      scope: { kind: cluster }
      reason: a lab has no standby of its record store
      owner: ada@example.org
      approver: grace@example.org
      created: ${day(-1)}
      expires: ${day(30)}
`,
    );
    expect(readFileSync(inventory, "utf8")).toContain("rack-3");
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.test", ...args], { cwd: folder });
    git("init", "-q");
    git("add", "jobs", "sources", "README.md", "watch.yaml", "waivers.yaml", inventory);
    git("commit", "-qm", "definitions");
  }
}

/** A command of the toolkit on the store's host, as the owner of the records. */
const asOwner =
  "cd / && ESCAPEMENT_STORE_URL='postgresql:///escapement?host=/var/run/postgresql' runuser -u postgres -- escapement";
