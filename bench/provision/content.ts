/**
 * The same content as a profile of ours and as a playbook of Ansible. Of each
 * kind there is about as much as in the shipped profile of an executor, which has
 * 57 resources, but for its rule set and its time zone.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HostLab } from "../../src/lab/hosts/host-lab.ts";

export const packages = ["chrony", "curl", "logrotate", "rsync"];
/** Those that a network of its own has, so that a container may set them: what they are to be, and what a bare host has. */
export const settings: Readonly<Record<string, readonly [wanted: string, bare: string]>> = {
  "net.core.somaxconn": ["4096", "128"],
  "net.ipv4.tcp_fin_timeout": ["30", "60"],
  "net.ipv4.tcp_keepalive_intvl": ["5", "75"],
  "net.ipv4.tcp_keepalive_probes": ["4", "9"],
  "net.ipv4.tcp_keepalive_time": ["60", "7200"],
  "net.ipv4.tcp_max_syn_backlog": ["2048", "512"],
  "net.ipv4.tcp_mtu_probing": ["1", "0"],
  "net.ipv4.tcp_orphan_retries": ["2", "0"],
  "net.ipv4.tcp_retries2": ["8", "15"],
  "net.ipv4.tcp_slow_start_after_idle": ["0", "1"],
  "net.ipv4.tcp_syn_retries": ["4", "6"],
  "net.ipv4.tcp_tw_reuse": ["1", "2"],
};
export const groups = ["bench", "bench-jobs", "bench-logs"];
export const users = ["bench", "bench-a", "bench-b", "bench-c", "bench-d"];
const folders = [
  "/etc/bench",
  ...["a", "b", "c", "d", "e", "f", "g", "h"].map((name) => `/etc/bench/${name}`),
  "/etc/systemd/system/chrony.service.d",
];
export const services = ["bench", "bench-a", "bench-b"];

const chrony = (timeSources: readonly string[]) =>
  `${timeSources.map((source) => `server ${source} iburst`).join("\n")}
driftfile /var/lib/chrony/chrony.drift
makestep 1 3
rtcsync
`;
/** A container may not set the clock, so chronyd only watches it. */
const inContainer =
  '[Unit]\nConditionCapability=\n[Service]\nEnvironment="DAEMON_OPTS=-x"\nEnvironmentFile=\n';
const service = (name: string) => `[Unit]
Description=What both tools set up
[Service]
User=${name}
ExecStart=/bin/sleep infinity
[Install]
WantedBy=multi-user.target
`;
const timer = (name: string) =>
  `[Timer]\nOnCalendar=daily\nUnit=${name}.service\n[Install]\nWantedBy=timers.target\n`;

/** 15 files: seven of about a kilobyte, two for chrony, and six units. */
function files(timeSources: readonly string[]): readonly (readonly [path: string, content: string])[] {
  return [
    ...Array.from({ length: 7 }, (_, i) => {
      const line = (n: number) => `setting_${i}_${n} = ${n * 7}\n`;
      return [`/etc/bench/part-${i}.conf`, Array.from({ length: 50 }, (_, n) => line(n)).join("")] as const;
    }),
    ["/etc/chrony/chrony.conf", chrony(timeSources)],
    ["/etc/systemd/system/chrony.service.d/bench.conf", inContainer],
    ...services.flatMap((name) => [
      [`/etc/systemd/system/${name}.service`, service(name)] as const,
      [`/etc/systemd/system/${name}.timer`, timer(name)] as const,
    ]),
  ];
}

/** What one host has been changed by hand, and how that is seen by who reads the file. */
export const drift = { path: "/etc/bench/part-5.conf", line: "echo by-hand >>/etc/bench/part-5.conf" };

export const counts = `${packages.length} packages, ${groups.length} groups, ${users.length} users, ${folders.length} folders, 15 files, ${Object.keys(settings).length} kernel settings, ${services.length * 2 + 1} units`;

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
    ...groups.map((name) => ({ kind: "group", name })),
    ...users.map((name) => ({ kind: "user", name, group: "bench", after: ["group:bench"] })),
    ...folders.map((path) => ({
      kind: "directory",
      path,
      after: path.startsWith("/etc/bench/") ? ["directory:/etc/bench"] : [],
    })),
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
    ...Object.entries(settings).map(([key, [value]]) => ({ kind: "sysctl", key, value })),
    unit("chrony.service", ["package:chrony", "file:/etc/chrony/chrony.conf"]),
    ...services.flatMap((name) => [
      unit(`${name}.service`, [`user:${name}`, `file:/etc/systemd/system/${name}.service`]),
      unit(`${name}.timer`, [`file:/etc/systemd/system/${name}.timer`]),
    ]),
  ];
}

/** YAML is a superset of JSON. Only modules, no facts: what a careful author would write. */
function playbook(all: ReturnType<typeof files>): unknown {
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
        { name: "groups", loop: groups, "ansible.builtin.group": { name: "{{ item }}", system: true } },
        {
          name: "users",
          loop: users,
          "ansible.builtin.user": {
            name: "{{ item }}",
            group: "bench",
            system: true,
            create_home: false,
            home: "/nonexistent",
            shell: "/usr/sbin/nologin",
          },
        },
        {
          name: "folders",
          loop: folders,
          "ansible.builtin.file": {
            path: "{{ item }}",
            state: "directory",
            owner: "root",
            group: "root",
            mode: "0755",
          },
        },
        { name: "files", "ansible.builtin.copy": copy, loop: loop.slice(0, 7) },
        {
          name: "chrony.conf",
          "ansible.builtin.copy": { ...copy, src: loop[7]!.src, dest: loop[7]!.path },
          notify: "chrony",
        },
        { name: "units", "ansible.builtin.copy": copy, loop: loop.slice(8), notify: "units" },
        {
          name: "kernel settings",
          "ansible.posix.sysctl": sysctl,
          loop: Object.entries(settings).map(([key, [value]]) => ({ key, value })),
        },
        { "ansible.builtin.meta": "flush_handlers" },
        {
          name: "what runs",
          loop: ["chrony.service", ...services.flatMap((name) => [`${name}.service`, `${name}.timer`])],
          "ansible.builtin.systemd": {
            name: "{{ item }}",
            enabled: true,
            state: "started",
            daemon_reload: false,
          },
        },
      ],
      handlers: [
        { name: "units", "ansible.builtin.systemd": { daemon_reload: true } },
        { name: "chrony", "ansible.builtin.systemd": { name: "chrony.service", state: "restarted" } },
      ],
    },
  ];
}
