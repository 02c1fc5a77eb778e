/** A plan of hosts with 300 resources each, over real ssh. */
import { mkdirSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { HostLab } from "../../src/lab/hosts/host-lab.ts";
import { inventoryText, profileText } from "./content.ts";
import { ours } from "./tools.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** 240 files, 30 folders, 16 packages, 10 groups, 2 users, 2 units: all of them real. */
function resources(): readonly unknown[] {
  const packages =
    "apt bash coreutils dash dpkg findutils grep gzip hostname login openssh-server passwd sed sudo tar util-linux";
  const groups = "adm audio bin daemon disk games kmem mail man news";
  return [
    ...numbers(30).map((i) => ({ kind: "directory", path: `/etc/many/${i}` })),
    ...numbers(240).map((i) => ({
      kind: "file",
      path: `/etc/many/${i % 30}/file-${i}.conf`,
      content: `# file ${i}\n`.repeat(40),
      after: [`directory:/etc/many/${i % 30}`],
    })),
    ...packages.split(" ").map((name) => ({ kind: "package", name })),
    ...groups.split(" ").map((name) => ({ kind: "group", name, system: true })),
    ...["many-a", "many-b"].map((name) => ({ kind: "user", name, group: "adm" })),
    ...["ssh.service", "systemd-journald.service"].map((name) => ({
      kind: "unit",
      name,
      enabled: true,
      running: true,
    })),
  ];
}

export async function planMany(lab: HostLab, folder: string, rounds: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const inventory = join(folder, "inventory.yaml");
  const profile = join(folder, "many.yaml");
  const wanted = resources();
  writeFileSync(inventory, inventoryText(lab, "many"));
  writeFileSync(profile, profileText("many", wanted));
  const site = { folder, inventory, profile, ansibleInventory: "", playbook: "" };
  const tool = ours(site, inventory, profile);
  const applied = tool.apply();
  const drifted = lab.hosts.at(-1)!.name;
  await lab.exec(drifted, ["sh", "-c", "echo by-hand >>/etc/many/7/file-7.conf"]);
  const took = numbers(rounds)
    .map(() => {
      const { seconds, changed } = tool.look();
      if (changed.join() !== drifted) throw new Error(`the plan found ${changed.join(", ")}, not ${drifted}`);
      return seconds;
    })
    .sort((a, b) => a - b);
  console.log(
    `\nplan of ${lab.hosts.length} hosts × ${wanted.length} resources, facts known: median ${took[Math.floor(rounds / 2)]!.toFixed(2)} s, best ${took[0]!.toFixed(2)} s of ${rounds}; first apply ${applied.seconds.toFixed(1)} s; load ${loadavg()[0]!.toFixed(1)}`,
  );
}
