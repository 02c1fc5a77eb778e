/** The texts that keepalived reads and runs. */
import { fileHead } from "../make-resource.ts";
import type { Section } from "../resolved-profile.ts";

export const checkScript = "/usr/local/libexec/escapement/check-scheduler";
export const scriptUser = "keepalived_script";

/** What the file needs beside the section. */
export interface KeepalivedParts {
  readonly address: string;
  readonly routerId: number;
  readonly interface: string;
  readonly own: string;
  readonly peers: readonly string[];
  readonly priority: number;
}

export function keepalivedLines({ value }: Section<"virtualIp">, parts: KeepalivedParts): readonly string[] {
  const seconds = (ms: number) => String(ms / 1_000);
  const { check, garp } = value;
  return [
    "global_defs {",
    "    vrrp_version 3",
    "    enable_script_security",
    `    script_user ${scriptUser}`,
    `    vrrp_startup_delay ${seconds(value.delayAfterBoot)}`,
    `    vrrp_garp_master_delay ${seconds(garp.masterDelay)}`,
    `    vrrp_garp_master_repeat ${garp.masterRepeat}`,
    `    vrrp_garp_master_refresh ${seconds(garp.masterRefresh)}`,
    `    vrrp_garp_lower_prio_repeat ${garp.lowerPriorityRepeat}`,
    "    vrrp_higher_prio_send_advert true",
    "}",
    "",
    "vrrp_script scheduler {",
    `    script "${checkScript}"`,
    `    interval ${seconds(check.every)}`,
    `    timeout ${seconds(check.timeout)}`,
    `    fall ${check.fall}`,
    `    rise ${check.rise}`,
    `    weight ${check.weight}`,
    "    # Nobody has the address before its scheduler has been asked.",
    "    init_fail",
    "}",
    "",
    "vrrp_instance escapement {",
    "    state BACKUP",
    ...(value.preempt ? [] : ["    nopreempt"]),
    `    interface ${parts.interface}`,
    `    virtual_router_id ${parts.routerId}`,
    `    priority ${parts.priority}`,
    `    advert_int ${seconds(value.advertEvery)}`,
    `    unicast_src_ip ${parts.own}`,
    "    unicast_peer {",
    ...parts.peers.map((peer) => `        ${peer}`),
    "    }",
    "    check_unicast_src",
    "    virtual_ipaddress {",
    `        ${parts.address} dev ${parts.interface}`,
    "    }",
    "    track_script {",
    "        scheduler",
    "    }",
    "}",
  ];
}

export function checkText(port: number, timeoutMs: number): string {
  return [
    "#!/bin/bash",
    fileHead,
    "# Ends with 0 when the scheduler of this host says that it is ready. Bash alone: it opens the connection itself.",
    "exec 2>/dev/null",
    `exec 3<>/dev/tcp/127.0.0.1/${port} || exit 1`,
    "printf 'GET /readyz HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n' >&3 || exit 1",
    `read -r -t ${timeoutMs / 1_000} _ status _ <&3 || exit 1`,
    '[ "$status" = 200 ]',
    "",
  ].join("\n");
}
