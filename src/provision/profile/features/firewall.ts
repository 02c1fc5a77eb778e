/**
 * One table of ours in nftables; tables of others stay. Ssh is always let in,
 * and requests for the time always out: they are counted, so that it can be
 * shown that they leave. The text has the words and the order in which nft prints
 * it, so that people can hold the two side by side; a plan compares what nft
 * printed when the table was loaded (plan/kinds/nft-table.ts).
 */
import { type Fact, isKnown } from "../../../base/fact.ts";
import type { InventoryHost } from "../../../spec/inventory-definition.ts";
import { computed } from "../host-context.ts";
import { linesFile, packageOf, unit } from "../make-resource.ts";
import { unitValidator } from "../unit-validator.ts";
import type { Feature } from "./feature.ts";
import { storeClients } from "./store-clients.ts";

const firewallTable = "escapement";
/** Where the plan keeps the table's text. */
const tableFile = `/etc/nftables.d/escapement-${firewallTable}.nft`;
const service = "escapement-firewall.service";
/** Where a running drill listens to its own work, unless `drill run --port` says otherwise. */
const drillWitnessPort = 7073;

/** Ports by host, which only the compiler can look up in the profiles of the others. */
export type PortOf = (role: "scheduler" | "executor" | "watchman" | "recordStore") => number | undefined;

export function firewallFor(portOf: PortOf): Feature<"firewall"> {
  return (section, context) => {
    const { incoming, services, open } = section.value;
    const missing: string[] = [];
    const rules: string[] = [];
    const allowAddresses = (found: Fact<readonly string[]>, match: string, what: string) => {
      if (!isKnown(found)) missing.push(found.unknown);
      else rules.push(...sourceRules(found.known, match, what));
    };
    const allow = (from: readonly InventoryHost[], match: string, what: string) =>
      allowAddresses(context.addressesOf(from), match, what);
    const http = {
      "scheduler-http": "scheduler",
      "executor-http": "executor",
      "watchman-http": "watchman",
    } as const;
    for (const service of services) {
      if (service === "vrrp") {
        const peers = context.hostsWith("virtualIp").filter(({ name }) => name !== context.host.name);
        allow(peers, "meta l4proto vrrp", "vrrp");
      } else if (service === "drill-witness") {
        if (context.text("drillPublicKey"))
          allow(context.hostsWith("executor"), `tcp dport ${drillWitnessPort}`, service);
      } else if (service === "postgresql") {
        allowAddresses(storeClients(context), `tcp dport ${portOf("recordStore") ?? 5432}`, "postgresql");
      } else {
        const port = portOf(http[service]);
        // Status and health are read-only and for people too.
        if (port !== undefined) rules.push(`tcp dport ${port} accept comment "${service}"`);
      }
    }
    for (const { port, protocol, from, why } of open ?? [])
      rules.push(...sourceRules(from, `${protocol} dport ${port}`, why.replace(/["\n\\]/g, " ")));
    const ssh = context.host.target.port;
    return [
      packageOf("nftables"),
      {
        kind: "nft-table",
        id: `nft-table:inet:${firewallTable}`,
        family: "inet",
        table: firewallTable,
        rules: tableText(incoming, ssh, rules),
        risk: "high",
        noop: `table inet ${firewallTable} is loaded as described`,
        after: ["package:nftables"],
        restarts: [],
        ...(missing[0] !== undefined && { unavailable: missing[0] }),
        provenance: [
          section.written("incoming", incoming),
          section.written("services", services.join(", ")),
          computed(
            "firewall.ssh",
            ssh,
            `the port by which the inventory reaches ${context.host.name}; always open`,
          ),
          computed(
            "firewall.ntp",
            "out, counted",
            "time must be asked for; counter ntp_out shows that it is",
          ),
        ],
      },
      // nftables.service would do it as well, and throw away the tables of others while it does.
      linesFile(`/etc/systemd/system/${service}`, {
        lines: [
          "[Unit]",
          "Description=Firewall table of Escapement",
          "DefaultDependencies=no",
          "After=local-fs.target",
          "Wants=network-pre.target",
          "Before=network-pre.target shutdown.target",
          "Conflicts=shutdown.target",
          "",
          "[Service]",
          "Type=oneshot",
          "RemainAfterExit=yes",
          `ExecStart=/usr/sbin/nft -f ${tableFile}`,
          "",
          "[Install]",
          "WantedBy=sysinit.target",
        ],
        risk: "high",
        after: ["package:nftables"],
        validator: unitValidator,
        provenance: [computed("firewall.atBoot", service, "loads the table before the network is up")],
      }),
      unit(service, {
        risk: "high",
        after: [`file:/etc/systemd/system/${service}`, `nft-table:inet:${firewallTable}`],
      }),
    ];
  };
}

function tableText(incoming: "drop" | "accept", sshPort: number, rules: readonly string[]): string {
  const lines = [
    "table inet escapement {",
    "\tcounter ntp_out {",
    '\t\tcomment "requests for the time that left this host"',
    "\t}",
    "",
    "\tchain input {",
    `\t\ttype filter hook input priority filter; policy ${incoming};`,
    "\t\tct state established,related accept",
    '\t\tiif "lo" accept',
    `\t\ttcp dport ${sshPort} accept comment "ssh"`,
    "\t\tip protocol icmp accept",
    "\t\tmeta l4proto ipv6-icmp accept",
    ...rules.map((rule) => `\t\t${rule}`),
    "\t}",
    "",
    "\tchain output {",
    "\t\ttype filter hook output priority filter; policy accept;",
    '\t\tudp dport 123 counter name "ntp_out" accept comment "time"',
    "\t}",
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

/** Rules for IPv4 and IPv6 sources; a single source stands alone, as nft prints it. */
function sourceRules(sources: readonly string[], match: string, what: string): string[] {
  const rules: string[] = [];
  for (const [family, own] of [
    ["ip", sources.filter((one) => !one.includes(":"))],
    ["ip6", sources.filter((one) => one.includes(":"))],
  ] as const) {
    const sorted = [...new Set(own)].sort(byNumber);
    if (sorted.length === 0) continue;
    const set = sorted.length === 1 ? sorted[0] : `{ ${sorted.join(", ")} }`;
    rules.push(`${family} saddr ${set} ${match} accept comment "${what}"`);
  }
  return rules;
}

function byNumber(a: string, b: string): number {
  const parts = (text: string) => text.split(/[./]/).map(Number);
  const left = parts(a);
  const right = parts(b);
  for (const [i, one] of left.entries()) {
    const other = right[i] ?? -1;
    if (one !== other && Number.isFinite(one) && Number.isFinite(other)) return one - other;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}
