/** A whole cluster on hosts of a lab that takes drills, with the controller on the machine of the lab. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
import { type Pace, writeBriefDrills } from "./brief-drills.ts";
import { RunningDrill } from "./running-drill.ts";

const password = "only-in-this-lab";
const shipped = (folder: string) => fileURLToPath(new URL(`../../../${folder}`, import.meta.url));

export const lightProbe = "/usr/local/bin/drill-probe";
const isExecutor = ({ profile }: { readonly profile: string }) => profile.startsWith("executor");

export interface DrilledSiteOptions {
  /** Drills as they are shipped, in place of their copies with short times. */
  readonly wholeTimes: boolean;
  /** Work and holds of the copies, in place of those for a cluster in containers. */
  readonly pace?: Pace;
  /** When its job fires, as cron says it. Default: every fifteen seconds. */
  readonly fires?: string;
  /** What else the inventory of the site needs, before the cluster is made. */
  readonly change?: (inventory: string, folder: string) => string;
}

export class DrilledSite {
  readonly #lab: HostLab;
  readonly #own: OwnCopy;
  readonly #options: DrilledSiteOptions;
  inventory = "";
  clusterFile = "";
  storeUrl = "";

  constructor(lab: HostLab, own: OwnCopy, options: DrilledSiteOptions) {
    this.#lab = lab;
    this.#own = own;
    this.#options = options;
  }

  get folder(): string {
    return join(this.#lab.inventoryFile, "..");
  }

  get drills(): string {
    return join(this.folder, "drills");
  }

  /** From bare hosts to a cluster with a job that fires every fifteen seconds, and drills allowed. */
  async bootstrap(): Promise<void> {
    const { hosts, state } = this.#lab;
    cpSync(shipped("chaos"), join(this.#own.folder, "chaos"), { recursive: true });
    mkdirSync(this.drills);
    if (!this.#options.wholeTimes) writeBriefDrills(shipped("chaos"), this.drills, this.#options.pace);
    this.inventory = await settlementSite({
      folder: this.folder,
      hosts,
      virtualIp: state.virtualIp,
      timeSources: state.timeSources,
    });
    const { publicKey } = JSON.parse(await this.run("drill", "keygen", "--json"));
    const text = readFileSync(this.inventory, "utf8")
      .replace(/^ {2}settings:$/m, `  settings:\n    drillPublicKey: ${publicKey}`)
      // Two of one kind, or nobody could take the work of the other.
      .replaceAll("profile: executor-io", "profile: executor-cpu");
    const { change = (same) => same } = this.#options;
    writeFileSync(this.inventory, change(this.#withVirtualProfile(this.#withLabClocks(text)), this.folder));
    this.#writeProfiles();
    // Enough to see that work of others goes on, and not so much that a small machine falls behind.
    const jobs = join(this.folder, "jobs", "settlement.yaml");
    const { lease } = this.#options.pace ?? {};
    const often = readFileSync(jobs, "utf8").replace(
      "*/3 * * * * *",
      this.#options.fires ?? "*/15 * * * * *",
    );
    // No job may ask for less than its cluster gives.
    const held = /^( +lease:) .*$/gm;
    writeFileSync(jobs, lease === undefined ? often : often.replaceAll(held, `$1 ${lease}`));
    await this.#bootstrap();
    await Promise.all(hosts.filter(isExecutor).map(({ name }) => this.#lightProbe(name)));
    await this.#letControllerIn();
    this.clusterFile = join(this.folder, "cluster.yaml");
    writeFileSync(this.clusterFile, await shell(this.#lab, "sched-1", "cat /etc/escapement/cluster.yaml"));
  }

  /** Runs one variant of a drill to its end. */
  async drill(name: string, variant: string, ...more: string[]): Promise<DrillReport> {
    return this.begin(name, variant, ...more).verdict();
  }

  /** Starts one variant of a drill, and does not wait. */
  begin(name: string, variant: string, ...more: string[]): RunningDrill {
    return new RunningDrill(this.#own.folder, [
      ...["drill", "run", name, "--variant", variant, "--yes", "--json", "--port", "0"],
      ...["--probe", lightProbe, ...this.drillFiles],
      ...["-i", this.inventory, "--cluster", this.clusterFile, "--url", this.storeUrl, ...this.profiles],
      ...more,
    ]);
  }

  /** Says which drills are meant, to commands that read them. */
  get drillFiles(): readonly string[] {
    return this.#options.wholeTimes ? [] : ["--drills", this.drills];
  }

  get profiles(): readonly string[] {
    return ["--profiles", join(this.folder, "profiles")];
  }

  /** A command about this inventory. @returns what it printed */
  async run(...args: string[]): Promise<string> {
    return this.command(...args, "-i", this.inventory);
  }

  async command(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await this.#own.run(args);
    expect(status, `${args.join(" ")}: ${stderr}`).toBe(0);
    return stdout;
  }

  /** A file system of its own, and a small one, for what a drill fills: here it would be the machine's. */
  async smallDisks(): Promise<void> {
    const executors = this.#lab.hosts.filter((host) => isExecutor(host) && host.machine !== "virtual");
    const mount = "mount -t tmpfs -o size=400m,mode=755 small /var/lib/escapement";
    await Promise.all(executors.map(({ name }) => shell(this.#lab, name, mount)));
  }

  /** An emulated machine may be slower than a step allows: the playbook then goes on where it was. */
  async #bootstrap(): Promise<void> {
    const slow = this.#lab.hosts.some(({ machine }) => machine === "virtual");
    const args = ["playbook", "run", "bootstrap", "--yes", "--json", ...this.profiles];
    if (slow) args.push("--confirm-timeout", "20m");
    const tries = slow ? 3 : 1;
    for (let left = tries - 1; left > 0; left--) {
      const { status, stderr } = await this.#own.run([...args, "-i", this.inventory]);
      if (status === 0) return;
      console.log(`bootstrap ended with ${status}: ${stderr.trim().split("\n").at(-1)}`);
    }
    await this.run(...args);
  }

  /** A host in a container has a file for a clock; a virtual machine has a clock. */
  #withLabClocks(text: string): string {
    return this.#lab.hosts
      .filter(({ machine }) => machine !== "virtual")
      .reduce((changed, { name }) => withSetting(changed, name, "drillLabClock: /var/lib/lab/clock"), text);
  }

  #withVirtualProfile(text: string): string {
    return this.#lab.hosts
      .filter((host) => host.machine === "virtual" && isExecutor(host))
      .reduce(
        (changed, { name }) =>
          changed
            .replace(new RegExp(`(- name: ${name}\\n.*\\n {6}profile: ).*`), "$1executor-virtual")
            .replace(new RegExp(`(- name: ${name}\\n(?: {6}.*\\n)*? {6}settings: { cores: )\\d+`), "$14"),
        text,
      );
  }

  /**
   * An emulated machine gets few slots: where many attempts begin at once, it has no time left for its lease.
   * The reset of the power is for the profile of whoever wants it. A virtual machine is told of more
   * memory than it has, to have slots; its kernel must not keep a part of that free.
   */
  #writeProfiles(): void {
    const text = readFileSync(join(shipped("profiles"), "scheduler.yaml"), "utf8");
    const faults = "[kill, stop, pause, cut, clock, fill-disk, memory-limit, power]";
    mkdirSync(join(this.folder, "profiles"));
    writeFileSync(
      join(this.folder, "profiles", "scheduler.yaml"),
      text.replace(/^ {2}drills:$/m, `  drills:\n    faults: ${faults}`),
    );
    const { lease } = this.#options.pace ?? {};
    if (lease !== undefined) {
      const base = readFileSync(join(shipped("profiles"), "base.yaml"), "utf8");
      writeFileSync(
        join(this.folder, "profiles", "base.yaml"),
        base.replace(/^ {4}lease: .*$/m, `    lease: ${lease}`),
      );
    }
    writeFileSync(
      join(this.folder, "profiles", "executor-virtual.yaml"),
      `apiVersion: escapement/v1
kind: HostProfile
metadata: { name: executor-virtual }
spec:
  includes: [executor-cpu]
  executor: { io: { share: 0.34, factor: 1.0 } }
  kernel: { minFreeShare: 0.0005 }
`,
    );
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
-- And one that may see whether a standby follows.
GRANT pg_read_all_stats TO drill;
DO $$ BEGIN EXECUTE format('GRANT %I TO drill', (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'escapement')); END $$;
SQL`,
    );
    this.storeUrl = `postgresql://drill:${password}@${store.address}:5432/escapement`;
  }
}

/** Adds a setting to a host of an inventory, beside those it has. */
function withSetting(inventory: string, host: string, setting: string): string {
  const entry = new RegExp(`^    - name: ${host}\\n(?:      .*\\n)+`, "m");
  return inventory.replace(entry, (lines) =>
    lines.includes("settings: {")
      ? lines.replace("settings: {", `settings: { ${setting},`)
      : `${lines}      settings: { ${setting} }\n`,
  );
}
