/** Connections to the hosts of a lab, as the product makes them. */
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import { connector } from "../../../src/remote/connect.ts";
import type { Remote } from "../../../src/remote/remote.ts";
import { loadInventory } from "../../../src/spec/load-inventory.ts";

/** @returns what makes a new connection to a host of the lab */
export async function connectTo(lab: HostLab, host: string): Promise<() => Promise<Remote>> {
  const { inventory, problems } = await loadInventory(lab.inventoryFile);
  const target = inventory?.hosts.find(({ name }) => name === host)?.target;
  if (!target) throw new Error(`no ${host} in the lab's inventory: ${JSON.stringify(problems)}`);
  const connect = connector();
  return () => connect({ ...target, connectTimeoutMs: 5_000 });
}

/** Root's shell inside a host, past its network. @returns what it printed */
export async function shell(lab: HostLab, host: string, line: string): Promise<string> {
  const { code, stdout, stderr } = await lab.exec(host, ["sh", "-c", line], { deadlineMs: 120_000 });
  if (code !== 0) throw new Error(`${line}: exit ${code}: ${stderr}${stdout}`);
  return stdout.trim();
}

/**
 * Everything that a change of these tests may touch: every file of /etc with content, owner and
 * mode, the packages, what is enabled, what runs of `units`, kernel settings and the rule set.
 */
export function fingerprint(lab: HostLab, host: string, units = "*"): Promise<string> {
  return shell(
    lab,
    host,
    `cd / && find etc usr/local opt ! -name '.pwd.lock' ! -name '*-' ! -path 'etc/ssl/*' \\( -type f -o -type l -o -type d \\) -printf '%p %y %m %u %g %l\\n' | sort
     find etc usr/local opt -type f ! -name '*-' ! -name '.pwd.lock' ! -path 'etc/ssl/*' ! -name ld.so.cache ! -path 'etc/.updated' -exec sha256sum {} + | sort
     dpkg-query -W -f '\${Package} \${db:Status-Status} \${Version}\\n' | grep ' installed '
     systemctl list-unit-files --no-legend --no-pager | sort
     systemctl list-units --no-legend --no-pager --plain --state=active --type=service,timer '${units}' | awk '{print $1, $4}' | grep -v -e escapement-revert -e '^user@' -e apt-daily -e dpkg-db -e tmpfiles-clean -e e2scrub -e fstrim | sort
     sysctl net.core.somaxconn net.ipv4.tcp_keepalive_time
     { nft list ruleset 2>/dev/null || :; }
     ls /var/lib/escapement-apply/pending-restarts 2>/dev/null || :`,
  );
}
