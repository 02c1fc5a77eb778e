/** A host of a lab that takes drills, staged as the profile's feature does it but within a second or two. */
import type { DrillKey } from "../../../src/chaos/host/drill-key.ts";
import { SshDrillHost } from "../../../src/chaos/host/ssh-drill-host.ts";
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import { drillFiles } from "../../../src/provision/profile/features/drill-files.ts";
import { connector } from "../../../src/remote/connect.ts";
import type { RemoteTarget } from "../../../src/remote/remote.ts";
import { loadInventory } from "../../../src/spec/load-inventory.ts";
import { shell } from "../provision/lab-targets.ts";

/** A list that allows what tests do. `clock-file` is the lab's own clock. */
export const everything: readonly string[] = [
  ...["kill", "stop", "pause", "cut", "clock", "power", "fill-disk", "memory-limit"].map(
    (one) => `fault ${one}`,
  ),
  "hold 120",
  "limit 180",
  "offset 600",
  "reserve 1048576",
  "clock-file /var/lib/lab/clock",
  "unit victim.service",
  "path /srv/fill",
];

/** Installs nftables, the program, the user, its right, and the list. */
export async function stageDrills(
  lab: HostLab,
  host: string,
  key: DrillKey,
  allowed: readonly string[],
): Promise<void> {
  const files = drillFiles({ publicKey: key.publicKey, allowed: [`host ${host}`, ...allowed], paths: [] });
  const put = files.map(
    ({ path, content, mode }) =>
      `install -D -m ${mode.toString(8)} /dev/null ${path} && echo ${Buffer.from(content).toString("base64")} | base64 -d > ${path}`,
  );
  await shell(
    lab,
    host,
    `command -v nft >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -q nftables >/dev/null 2>&1
     id escapement-drill >/dev/null 2>&1 || useradd --system --user-group --shell /bin/sh --home-dir /var/lib/escapement-drill escapement-drill
     mkdir -p -m 755 /var/lib/escapement-drill /var/lib/escapement-drill/.ssh /etc/escapement/drill /var/lib/escapement
     ${put.join("\n")}
     chmod 755 /var/lib/escapement-drill /var/lib/escapement-drill/.ssh /etc/escapement /etc/escapement/drill
     systemctl daemon-reload
     systemctl enable -q escapement-drill-cleanup.service`,
  );
}

/** How the lab's inventory reaches a host. */
export async function targetOf(lab: HostLab, host: string): Promise<RemoteTarget> {
  const { inventory } = await loadInventory(lab.inventoryFile);
  const target = inventory?.hosts.find(({ name }) => name === host)?.target;
  if (!target) throw new Error(`no ${host} in the lab's inventory`);
  return { ...target, connectTimeoutMs: 10_000 };
}

/** The host as the controller of a drill has it. */
export async function drillHost(lab: HostLab, host: string, key: DrillKey): Promise<SshDrillHost> {
  return new SshDrillHost({ key, connect: connector(), target: await targetOf(lab, host) });
}

/** What drills of tests hit, with a small file system beside it. */
export const victim = "victim.service";

export async function prepareVictim(lab: HostLab, host: string): Promise<void> {
  const mount =
    "[Mount]\nWhat=fill\nWhere=/srv/fill\nType=tmpfs\nOptions=size=16m\n[Install]\nWantedBy=multi-user.target\n";
  const unit =
    "[Service]\nExecStart=/bin/sleep infinity\nRestart=always\nRestartSec=200ms\n[Install]\nWantedBy=multi-user.target\n";
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  await shell(
    lab,
    host,
    `echo ${base64(unit)} | base64 -d > /etc/systemd/system/${victim}
     echo ${base64(mount)} | base64 -d > /etc/systemd/system/srv-fill.mount
     systemctl daemon-reload
     systemctl enable -q --now srv-fill.mount ${victim}`,
  );
}
