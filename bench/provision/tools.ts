/** The two programs as a person would start them, timed from start to exit, and what they said about each host. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HostLab } from "../../src/lab/hosts/host-lab.ts";
import type { Site } from "./content.ts";

export interface Run {
  readonly seconds: number;
  /** Hosts on which something was changed, or would be. */
  readonly changed: readonly string[];
  /** What it said, for when that is not what was expected. */
  readonly said: string;
}

export interface Tool {
  readonly name: string;
  /** Forgets what it remembers of hosts. */
  forget(): void;
  apply(): Run;
  /** Changes nothing. */
  look(): Run;
}

function timed(command: string, args: readonly string[], environment: NodeJS.ProcessEnv) {
  const began = performance.now();
  const ended = spawnSync(command, args, {
    encoding: "utf8",
    env: { ...process.env, ...environment },
    maxBuffer: 1 << 28,
  });
  return { ...ended, seconds: (performance.now() - began) / 1000 };
}

const program = join(process.cwd(), "bin/escapement.mjs");

export function ours(
  { folder }: Site,
  inventory: string,
  profile: string,
): Tool & { look(fresh?: boolean): Run } {
  let cache = 0;
  const run = (args: readonly string[], fine: readonly number[]) => {
    const { status, stdout, stderr, seconds } = timed(
      process.execPath,
      [program, ...args, "-i", inventory, "--profiles", profile, "--json"],
      { XDG_CACHE_HOME: join(folder, `cache-${cache}`) },
    );
    if (!fine.includes(status ?? -1))
      throw new Error(`escapement ${args[0]} ended with ${status}: ${stderr}${stdout.slice(0, 2_000)}`);
    return { seconds, said: stdout, hosts: (JSON.parse(stdout) as { hosts: HostAnswer[] }).hosts };
  };
  return {
    name: "escapement",
    forget: () => {
      cache++;
    },
    apply() {
      const { hosts, ...rest } = run(["apply", "--yes"], [0]);
      return { ...rest, changed: hosts.filter(({ status }) => status === "changed").map(({ host }) => host) };
    },
    look(fresh = false) {
      const { hosts, ...rest } = run(["plan", "--exit-code", ...(fresh ? ["--fresh-facts"] : [])], [0, 2]);
      const differs = ({ resources = [] }: HostAnswer) => resources.some(({ state }) => state !== "ok");
      return { ...rest, changed: hosts.filter(differs).map(({ host }) => host) };
    },
  };
}

interface HostAnswer {
  readonly host: string;
  readonly status: string;
  readonly resources?: readonly { readonly state: string }[];
}

/** Undefined where Debian's package is not installed. */
export function ansibleVersion(): string | undefined {
  if (!existsSync("/usr/bin/ansible-playbook")) return undefined;
  return /core ([\d.]+)/.exec(spawnSync("ansible-playbook", ["--version"], { encoding: "utf8" }).stdout)?.[1];
}

export function ansible(
  lab: HostLab,
  { folder, ansibleInventory, playbook }: Site,
): Tool & { close(): void } {
  const sockets = join("/tmp", `esc-bench-${process.pid}`);
  mkdirSync(sockets, { mode: 0o700, recursive: true });
  const config = join(folder, "ansible.cfg");
  writeFileSync(
    config,
    `[defaults]
forks = ${Math.max(10, lab.hosts.length)}
nocows = True
retry_files_enabled = False
localhost_warning = False
[ssh_connection]
pipelining = True
control_path_dir = ${sockets}
ssh_args = -o ControlMaster=auto -o ControlPersist=600s -o UserKnownHostsFile=${lab.knownHostsFile} -o StrictHostKeyChecking=yes -o PreferredAuthentications=publickey
`,
  );
  const run = (args: readonly string[]): Run => {
    const { status, stdout, stderr, seconds } = timed(
      "ansible-playbook",
      ["-i", ansibleInventory, ...args, playbook],
      {
        ANSIBLE_CONFIG: config,
        ANSIBLE_HOME: join(folder, "ansible-home"),
        ANSIBLE_NOCOLOR: "1",
        LC_ALL: "C.UTF-8",
      },
    );
    if (status !== 0)
      throw new Error(`ansible-playbook ended with ${status}: ${stderr}${stdout.slice(-4_000)}`);
    const recap = [...stdout.matchAll(/^(\S+)\s*: ok=\d+\s+changed=(\d+)/gm)];
    if (recap.length !== lab.hosts.length) throw new Error(`no recap of every host: ${stdout.slice(-2_000)}`);
    return {
      seconds,
      said: stdout,
      changed: recap.filter(([, , count]) => count !== "0").map(([, host]) => host!),
    };
  };
  return {
    name: "Ansible",
    forget: () => {},
    apply: () => run([]),
    look: () => run(["--check", "--diff"]),
    close() {
      for (const { address } of lab.hosts)
        spawnSync("sh", [
          "-c",
          `for s in ${sockets}/*; do ssh -o ControlPath="$s" -O exit root@${address} 2>/dev/null; done; :`,
        ]);
      spawnSync("rm", ["-rf", sockets]);
    },
  };
}
