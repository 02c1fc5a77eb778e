/** Makes hosts bare again, so that the next tool begins where the first one did. */
import type { HostLab } from "../../src/lab/hosts/host-lab.ts";
import { groups, packages, services, settings, users } from "./content.ts";

/** Every host without any of it. @throws where something of it is left */
export async function makeBare(lab: HostLab): Promise<void> {
  const keys = Object.keys(settings).join(" ");
  const bare = Object.entries(settings).map(([key, [, value]]) => `${key}=${value}`);
  const units = services.flatMap((name) => [`${name}.service`, `${name}.timer`]).join(" ");
  const script = `set -e
    mount -o remount,rw,bind /proc/sys
    systemctl disable --now -q ${units} 2>/dev/null || :
    DEBIAN_FRONTEND=noninteractive apt-get purge -q -y --autoremove ${packages.join(" ")} >/dev/null 2>&1 || :
    rm -rf /etc/bench /etc/chrony /etc/systemd/system/bench* /etc/systemd/system/chrony.service.d /etc/sysctl.d/90-* /var/lib/escapement-apply ~root/.ansible
    for user in ${users.join(" ")}; do userdel "$user" 2>/dev/null || :; done
    for group in ${groups.join(" ")}; do groupdel "$group" 2>/dev/null || :; done
    sysctl -q -w ${bare.join(" ")}
    systemctl daemon-reload
    systemctl reset-failed
    ! dpkg-query -W -f '\${Package} \${db:Status-Status}\\n' ${packages.join(" ")} 2>/dev/null | grep ' installed'
    ! getent passwd ${users.join(" ")}
    ! getent group ${groups.join(" ")}
    sysctl ${keys} >/dev/null`;
  await Promise.all(
    lab.hosts.map(async ({ name }) => {
      const { code, stdout, stderr } = await lab.exec(name, ["sh", "-c", script], { deadlineMs: 300_000 });
      if (code !== 0) throw new Error(`${name} could not be made bare: ${stderr}${stdout}`);
    }),
  );
}
