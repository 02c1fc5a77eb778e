/** The same content as a profile of ours and as a playbook of Ansible, and what makes a host bare again. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HostLab } from "../../src/lab/hosts/host-lab.ts";

const packages = ["chrony", "curl", "logrotate", "rsync"];
const settings = { "net.core.somaxconn": "4096", "net.ipv4.tcp_keepalive_time": "60" };

const chrony = (timeSources: readonly string[]) =>
  `${timeSources.map((source) => `server ${source} iburst`).join("\n")}
driftfile /var/lib/chrony/chrony.drift
makestep 1 3
rtcsync
`;
/** A container may not set the clock, so chronyd only watches it. */
const inContainer =
  '[Unit]\nConditionCapability=\n[Service]\nEnvironment="DAEMON_OPTS=-x"\nEnvironmentFile=\n';
const service = `[Unit]
Description=What both tools set up
[Service]
User=bench
ExecStart=/bin/sleep infinity
[Install]
WantedBy=multi-user.target
`;
const timer = "[Timer]\nOnCalendar=daily\nUnit=bench.service\n[Install]\nWantedBy=timers.target\n";

/** 13 files: nine of about a kilobyte, two for chrony, and two units. */
function files(timeSources: readonly string[]): readonly (readonly [path: string, content: string])[] {
  return [
    ...Array.from({ length: 9 }, (_, i) => {
      const line = (n: number) => `setting_${i}_${n} = ${n * 7}\n`;
      return [`/etc/bench/part-${i}.conf`, Array.from({ length: 50 }, (_, n) => line(n)).join("")] as const;
    }),
    ["/etc/chrony/chrony.conf", chrony(timeSources)],
    ["/etc/systemd/system/chrony.service.d/bench.conf", inContainer],
    ["/etc/systemd/system/bench.service", service],
    ["/etc/systemd/system/bench.timer", timer],
  ];
}

/** What one host has been changed by hand, and how that is seen by who reads the file. */
export const drift = { path: "/etc/bench/part-7.conf", line: "echo by-hand >>/etc/bench/part-7.conf" };

export const counts = `${packages.length} packages, a group, a user, 2 folders, 13 files, ${Object.keys(settings).length} kernel settings, 3 units`;

export interface Site {
  readonly folder: string;
  readonly inventory: string;
  readonly profile: string;
  readonly ansibleInventory: string;
  readonly playbook: string;
}

export function writeSite(lab: HostLab, folder: string): Site {
  const { timeSources } = lab.state;
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => {
    const file = join(folder, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const all = files(timeSources);
  for (const [i, [, content]] of all.entries()) write(`files/${i}`, content);
  return {
    folder,
    inventory: write("inventory.yaml", inventoryText(lab, "bench")),
    profile: write("bench.yaml", profileText("bench", profileResources(all))),
    ansibleInventory: write(
      "hosts.ini",
      `${lab.hosts.map(({ name, address }) => `${name} ansible_host=${address}`).join("\n")}\n\n[all:vars]\nansible_user=root\nansible_ssh_private_key_file=${lab.identityFile}\nansible_python_interpreter=/usr/bin/python3\n`,
    ),
    playbook: write("playbook.json", JSON.stringify(playbook(all), null, 2)),
  };
}

/** One failure domain: both tools change all hosts at once. */
export function inventoryText(lab: HostLab, profile: string): string {
  const hosts = lab.hosts.map(({ name, address }) => ({ name, address, profile, failureDomain: "all" }));
  const defaults = { user: "root", identityFile: lab.identityFile, knownHostsFile: lab.knownHostsFile };
  return `apiVersion: escapement/v1\nkind: Inventory\nmetadata: { name: bench }\nspec: ${JSON.stringify({ defaults, hosts })}\n`;
}

export function profileText(name: string, resources: readonly unknown[]): string {
  return `apiVersion: escapement/v1\nkind: HostProfile\nmetadata: { name: ${name} }\nspec: ${JSON.stringify({ resources })}\n`;
}

function profileResources(all: ReturnType<typeof files>): readonly unknown[] {
  const unit = (name: string, after: readonly string[]) => ({
    kind: "unit",
    name,
    enabled: true,
    running: true,
    after,
  });
  return [
    ...packages.map((name) => ({ kind: "package", name })),
    { kind: "group", name: "bench" },
    { kind: "user", name: "bench", group: "bench", after: ["group:bench"] },
    { kind: "directory", path: "/etc/bench" },
    { kind: "directory", path: "/etc/systemd/system/chrony.service.d" },
    ...all.map(([path, content]) => ({
      kind: "file",
      path,
      content,
      after: path.startsWith("/etc/bench/")
        ? ["directory:/etc/bench"]
        : path.includes("chrony")
          ? ["package:chrony"]
          : [],
      restarts: path.includes("chrony") ? [{ unit: "chrony.service", action: "restart" }] : [],
    })),
    ...Object.entries(settings).map(([key, value]) => ({ kind: "sysctl", key, value })),
    unit("chrony.service", ["package:chrony", "file:/etc/chrony/chrony.conf"]),
    unit("bench.service", ["user:bench", "file:/etc/systemd/system/bench.service"]),
    unit("bench.timer", ["file:/etc/systemd/system/bench.timer"]),
  ];
}

/** YAML is a superset of JSON. Only modules, no facts: what a careful author would write. */
function playbook(all: ReturnType<typeof files>): unknown {
  const unit = (name: string) => ({
    name,
    "ansible.builtin.systemd": { name, enabled: true, state: "started", daemon_reload: false },
  });
  const loop = all.map(([path], i) => ({ src: `files/${i}`, path }));
  const copy = { src: "{{ item.src }}", dest: "{{ item.path }}", owner: "root", group: "root", mode: "0644" };
  const sysctl = {
    name: "{{ item.key }}",
    value: "{{ item.value }}",
    sysctl_file: "/etc/sysctl.d/90-bench.conf",
    reload: false,
    sysctl_set: true,
  };
  return [
    {
      hosts: "all",
      gather_facts: false,
      tasks: [
        {
          name: "packages",
          "ansible.builtin.apt": { name: packages, state: "present", install_recommends: false },
        },
        { name: "group", "ansible.builtin.group": { name: "bench", system: true } },
        {
          name: "user",
          "ansible.builtin.user": {
            name: "bench",
            group: "bench",
            system: true,
            create_home: false,
            home: "/nonexistent",
            shell: "/usr/sbin/nologin",
          },
        },
        {
          name: "folders",
          loop: ["/etc/bench", "/etc/systemd/system/chrony.service.d"],
          "ansible.builtin.file": {
            path: "{{ item }}",
            state: "directory",
            owner: "root",
            group: "root",
            mode: "0755",
          },
        },
        { name: "files", "ansible.builtin.copy": copy, loop: loop.slice(0, 9) },
        {
          name: "chrony.conf",
          "ansible.builtin.copy": { ...copy, src: loop[9]!.src, dest: loop[9]!.path },
          notify: "chrony",
        },
        { name: "units", "ansible.builtin.copy": copy, loop: loop.slice(10), notify: "units" },
        {
          name: "kernel settings",
          "ansible.posix.sysctl": sysctl,
          loop: Object.entries(settings).map(([key, value]) => ({ key, value })),
        },
        { "ansible.builtin.meta": "flush_handlers" },
        unit("chrony.service"),
        unit("bench.service"),
        unit("bench.timer"),
      ],
      handlers: [
        { name: "units", "ansible.builtin.systemd": { daemon_reload: true } },
        { name: "chrony", "ansible.builtin.systemd": { name: "chrony.service", state: "restarted" } },
      ],
    },
  ];
}

/** Every host without any of it. @throws where something of it is left */
export async function makeBare(lab: HostLab): Promise<void> {
  const keys = Object.keys(settings).join(" ");
  const script = `set -e
    mount -o remount,rw,bind /proc/sys
    systemctl disable --now -q bench.service bench.timer 2>/dev/null || :
    DEBIAN_FRONTEND=noninteractive apt-get purge -q -y --autoremove ${packages.join(" ")} >/dev/null 2>&1 || :
    rm -rf /etc/bench /etc/chrony /etc/systemd/system/bench.* /etc/systemd/system/chrony.service.d /etc/sysctl.d/90-* /var/lib/escapement-apply ~root/.ansible
    userdel bench 2>/dev/null || :
    groupdel bench 2>/dev/null || :
    sysctl -q -w net.core.somaxconn=128 net.ipv4.tcp_keepalive_time=7200
    systemctl daemon-reload
    systemctl reset-failed
    ! dpkg-query -W -f '\${Package} \${db:Status-Status}\\n' ${packages.join(" ")} 2>/dev/null | grep ' installed'
    ! getent passwd bench
    sysctl ${keys} >/dev/null`;
  await Promise.all(
    lab.hosts.map(async ({ name }) => {
      const { code, stdout, stderr } = await lab.exec(name, ["sh", "-c", script], { deadlineMs: 300_000 });
      if (code !== 0) throw new Error(`${name} could not be made bare: ${stderr}${stdout}`);
    }),
  );
}
