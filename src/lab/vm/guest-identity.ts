/** Gives a virtual machine, copied from another, a name, an address and keys of its own. */
import { readFileSync } from "node:fs";
import { EscapementError } from "../../base/errors.ts";
import { type LabKeys, makeKey } from "../hosts/host-files.ts";
import type { LabHost, LabState } from "../hosts/lab-state.ts";
import type { ProgramOptions, ProgramResult } from "../hosts/run-program.ts";

type RunInGuest = (argv: readonly string[], options: ProgramOptions) => Promise<ProgramResult>;

/** What makes this machine different from the one it was copied from. @returns its line for known_hosts */
export async function personaliseGuest(
  state: LabState,
  host: LabHost,
  keys: LabKeys,
  run: RunInGuest,
  keyFile: string,
): Promise<string> {
  const publicKey = await makeKey(keyFile, host.name);
  const hosts = state.hosts.map((one) => `${one.address} ${one.name}`).join("\n");
  const script = `set -e
date -s @${(Date.now() / 1_000).toFixed(3)} >/dev/null
printf '%s\\n' '${host.name}' > /etc/hostname
hostname '${host.name}'
cat > /etc/hosts <<'END'
127.0.0.1 localhost
::1 localhost ip6-localhost ip6-loopback
${hosts}
END
tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id
printf '# The lab has no name server; see hosts(5).\\n' > /etc/resolv.conf
cat > /etc/systemd/system/lab-network.service <<'END'
[Unit]
DefaultDependencies=no
Before=network.target
After=systemd-udevd.service local-fs.target
Wants=network.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/sbin/ip link set eth0 address ${hardwareAddress(host.address)}
ExecStart=/sbin/ip address replace ${host.address}/24 dev eth0
ExecStart=/sbin/ip link set eth0 up
ExecStart=/sbin/ip route replace default via ${state.gateway}
[Install]
WantedBy=multi-user.target
END
mkdir -p ~root/.ssh ~ops/.ssh && chmod 700 ~root/.ssh ~ops/.ssh
for d in ~root ~ops; do printf '%s\\n' '${keys.authorizedKey}' > $d/.ssh/authorized_keys; chmod 600 $d/.ssh/authorized_keys; done
chown -R ops:ops ~ops/.ssh
printf 'ops:%s\\n' '${keys.opsPassword}' | chpasswd
(umask 077; cat > /etc/ssh/ssh_host_ed25519_key <<'END'
${readFileSync(keyFile, "utf8").trim()}
END
)
printf '%s\\n' '${publicKey}' > /etc/ssh/ssh_host_ed25519_key.pub
systemctl daemon-reload
systemctl enable --quiet lab-network.service
systemctl start lab-network.service
systemctl restart systemd-journald ssh
`;
  const { code, stderr } = await run(["sh", "-s"], {
    input: script,
    deadlineMs: 120_000,
  });
  if (code !== 0)
    throw new EscapementError("E_LAB_STEP", {
      step: `giving virtual machine ${host.name} its name`,
      reason: stderr.trim().split("\n").slice(-3).join("; "),
    });
  return `${host.address} ${publicKey.split(" ").slice(0, 2).join(" ")}`;
}

function hardwareAddress(address: string): string {
  return ["02", "e5", ...address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"))].join(
    ":",
  );
}
