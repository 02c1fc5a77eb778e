/** A whole cluster on hosts of a lab that takes drills, with the controller on the machine of the lab. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { DrillReport } from "../../../src/chaos/drill/drill-report.ts";
import { witnessJob } from "../../../src/chaos/witness.ts";
import { localAddressTowards } from "../../../src/cli/drill/local-address.ts";
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import type { OwnCopy } from "../playbook/own-copy.ts";
import { settlementSite } from "../playbook/settlement-site.ts";
import { shell } from "../provision/lab-targets.ts";

const password = "only-in-this-lab";
const shippedDrills = fileURLToPath(new URL("../../../chaos", import.meta.url));

const lightProbe = "/usr/local/bin/drill-probe";
const isExecutor = ({ profile }: { readonly profile: string }) => profile.startsWith("executor");

export class DrilledSite {
  readonly #lab: HostLab;
  readonly #own: OwnCopy;
  inventory = "";
  clusterFile = "";
  storeUrl = "";

  constructor(lab: HostLab, own: OwnCopy) {
    this.#lab = lab;
    this.#own = own;
  }

  get folder(): string {
    return join(this.#lab.inventoryFile, "..");
  }

  /** From bare hosts to a cluster with a job that fires every three seconds, and drills allowed. */
  async bootstrap(): Promise<void> {
    const { hosts, state } = this.#lab;
    cpSync(shippedDrills, join(this.#own.folder, "chaos"), { recursive: true });
    this.inventory = await settlementSite({
      folder: this.folder,
      hosts,
      virtualIp: state.virtualIp,
      timeSources: state.timeSources,
    });
    const { publicKey } = JSON.parse(await this.run("drill", "keygen", "--json"));
    const text = readFileSync(this.inventory, "utf8").replace(
      /^ {2}settings:$/m,
      `  settings:\n    drillPublicKey: ${publicKey}\n    drillLabClock: /var/lib/lab/clock`,
    );
    // Two of one kind, or nobody could take the work of the other.
    writeFileSync(this.inventory, text.replaceAll("profile: executor-io", "profile: executor-cpu"));
    // Enough to see that work of others goes on, and not so much that a small machine falls behind.
    const jobs = join(this.folder, "jobs", "settlement.yaml");
    writeFileSync(jobs, readFileSync(jobs, "utf8").replace("*/3 * * * * *", "*/15 * * * * *"));
    await this.run("playbook", "run", "bootstrap", "--yes", "--json");
    await Promise.all(hosts.filter(isExecutor).map(({ name }) => this.#lightProbe(name)));
    await this.#letControllerIn();
    this.clusterFile = join(this.folder, "cluster.yaml");
    writeFileSync(this.clusterFile, await shell(this.#lab, "sched-1", "cat /etc/escapement/cluster.yaml"));
  }

  /** Runs one variant of a shipped drill. */
  async drill(name: string, variant: string, ...more: string[]): Promise<DrillReport> {
    const { status, stdout, stderr } = await this.#own.run([
      ...["drill", "run", name, "--variant", variant, "--yes", "--json", "--port", "0"],
      ...["--probe", lightProbe],
      ...["-i", this.inventory, "--cluster", this.clusterFile, "--url", this.storeUrl],
      ...more,
    ]);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const verdict = lines.find((line) => line.event === "verdict");
    if (process.env.DRILL_SAY) for (const { at, line } of verdict?.log ?? []) console.log(`  ${at} ${line}`);
    expect(verdict, `exit ${status}: ${stderr}\n${stdout.slice(-3_000)}`).toBeDefined();
    return verdict;
  }

  async run(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await this.#own.run([...args, "-i", this.inventory]);
    expect(status, `${args.join(" ")}: ${stderr}`).toBe(0);
    return stdout;
  }

  /** Does what `escapement drill probe` does, in a few milliseconds: five hosts share one small machine here. */
  async #lightProbe(host: string): Promise<void> {
    const script = `#!/bin/bash\n${witnessJob.replace("127.0.0.1", "$WITNESS_HOST")}`;
    const text = Buffer.from(script).toString("base64");
    await shell(this.#lab, host, `echo ${text} | base64 -d > ${lightProbe} && chmod 755 ${lightProbe}`);
  }

  /** A site's controller is a host of the inventory; here it is the machine of the lab. */
  async #letControllerIn(): Promise<void> {
    const store = this.#lab.hosts.find(({ profile }) => profile === "record-store")!;
    const own = await localAddressTowards(store.address);
    await shell(
      this.#lab,
      store.name,
      `echo "host escapement all ${own}/32 scram-sha-256" >> /etc/postgresql/15/main/pg_hba.conf
       nft insert rule inet escapement input ip saddr ${own} tcp dport 5432 accept
       runuser -u postgres -- psql -XAtq -d escapement <<'SQL'
SELECT pg_reload_conf();
-- Whoever runs a drill brings jobs of its own: a login that may apply jobs.
CREATE ROLE drill LOGIN PASSWORD '${password}';
DO $$ BEGIN EXECUTE format('GRANT %I TO drill', (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'escapement')); END $$;
SQL`,
    );
    this.storeUrl = `postgresql://drill:${password}@${store.address}:5432/escapement`;
  }
}
