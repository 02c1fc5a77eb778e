/** Every kind of resource on a real host: changed, found right, taken back to the last byte; and a host that cuts itself off. */
import { describe, expect, test } from "vitest";
import { applyHost } from "../../../src/provision/apply/apply-host.ts";
import { rollbackHost } from "../../../src/provision/apply/rollback-host.ts";
import { type HostPlan, hasChanges, unknownsOf } from "../../../src/provision/plan/host-plan.ts";
import { lookAndPlan } from "../../../src/provision/plan/look.ts";
import type { Resource } from "../../../src/provision/resource.ts";
import { directory, file, restart, unit } from "../../provision/support/resources.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { connectTo, fingerprint, shell } from "./lab-targets.ts";

const common = { risk: "low", noop: "", after: [], restarts: [], provenance: [] } as const;
const service = `[Unit]
Description=A service of the test
[Service]
ExecStart=/bin/sh -c 'cat /etc/made/app.conf >/run/app.started; exec sleep infinity'
[Install]
WantedBy=multi-user.target
`;
const timer = "[Timer]\nOnCalendar=daily\n[Install]\nWantedBy=timers.target\n";

const everything: readonly Resource[] = [
  { ...common, kind: "package", id: "package:nftables", name: "nftables", state: "installed" },
  { ...common, kind: "group", id: "group:made", name: "made", system: true },
  {
    ...common,
    kind: "user",
    id: "user:made",
    name: "made",
    system: true,
    group: "made",
    groups: ["adm"],
    home: "/nonexistent",
    shell: "/usr/sbin/nologin",
    after: ["group:made"],
  },
  directory("/etc/made", { owner: "made", group: "made", mode: 0o750, after: ["user:made"] }),
  file("/etc/made/app.conf", "one\n", {
    owner: "made",
    group: "made",
    mode: 0o640,
    after: ["directory:/etc/made"],
    restarts: [restart("made.service")],
  }),
  file("/etc/motd", "", { absent: true }),
  file("/etc/systemd/system/made.service", service, {
    validator: { name: "systemd-analyze verify", argv: ["systemd-analyze", "verify", "{file}"] },
    restarts: [restart("made.service")],
    after: ["file:/etc/made/app.conf"],
  }),
  file("/etc/systemd/system/made.timer", timer),
  unit("made.service", { after: ["file:/etc/systemd/system/made.service"] }),
  unit("made.timer", { after: ["file:/etc/systemd/system/made.timer"] }),
  unit("systemd-boot-check-no-failures.service", { enabled: "masked", running: false }),
  { ...common, kind: "sysctl", id: "sysctl:net.core.somaxconn", key: "net.core.somaxconn", value: "5000" },
  {
    ...common,
    kind: "sshd-option",
    id: "sshd-option:MaxAuthTries",
    name: "MaxAuthTries",
    value: "3",
    restarts: [restart("ssh.service", { action: "reload" })],
  },
  {
    ...common,
    kind: "nft-table",
    id: "nft-table:made",
    family: "inet",
    table: "made",
    rules:
      "table inet made {\n  chain input {\n    type filter hook input priority 0; policy accept;\n    tcp dport 9 drop\n  }\n}",
    after: ["package:nftables"],
  },
  { ...common, kind: "time-zone", id: "time-zone", zone: "Europe/Berlin" },
];

describe.skipIf(noHosts)("one host", () => {
  const lab = hostLab({ hosts: ["exec-1"] });
  const host = "exec-1";
  let ready = false;

  async function prepare() {
    const connect = await connectTo(lab(), host);
    if (!ready) {
      ready = true;
      await shell(lab(), host, "apt-get install -y -q tzdata >/dev/null; echo hello >/etc/motd");
    }
    const plan = async (resources: readonly Resource[]): Promise<HostPlan> => {
      const remote = await connect();
      try {
        return await lookAndPlan(remote, resources, {});
      } finally {
        await remote.close();
      }
    };
    return { connect, plan };
  }

  test("every kind is changed, the second plan is empty, rollback brings every byte back", async () => {
    const { connect, plan } = await prepare();
    const before = await fingerprint(lab(), host);
    const first = await plan(everything);
    expect(unknownsOf(first)).toEqual([]);
    expect(
      first.entries.filter(({ judged }) => judged.steps.length === 0).map(({ resource }) => resource.id),
    ).toEqual([]);
    const ended = await applyHost(first, { connect, confirmSeconds: 60 });
    expect(ended).toMatchObject({ status: "changed", result: "committed" });
    const second = await plan(everything);
    expect(second.entries.filter(({ judged }) => judged.state !== "ok")).toEqual([]);
    expect(hasChanges(second)).toBe(false);
    expect(
      await shell(lab(), host, "cat /run/app.started; systemctl is-active made.service made.timer; id made"),
    ).toMatch(/^one\nactive\nactive\nuid=\d+\(made\) gid=\d+\(made\) groups=\d+\(made\),4\(adm\)$/);
    expect(
      await shell(lab(), host, "sshd -T | grep maxauthtries; sysctl -n net.core.somaxconn; date +%Z"),
    ).toMatch(/^maxauthtries 3\n5000\nCES?T$/);
    expect(
      await shell(lab(), host, "systemctl list-timers --all --no-legend | grep -c escapement-revert || :"),
    ).toBe("0");
    const remote = await connect();
    try {
      expect(await rollbackHost(remote)).toMatchObject({
        result: "rolled-back",
        reason: expect.stringContaining("0 problem(s)"),
      });
    } finally {
      await remote.close();
    }
    expect(await fingerprint(lab(), host)).toBe(before);
  });

  test("a change that cuts the host off is put back by the host within the time given", async () => {
    const { connect, plan } = await prepare();
    const before = await fingerprint(lab(), host);
    const port: Resource = {
      ...common,
      risk: "high",
      kind: "sshd-option",
      id: "sshd-option:Port",
      name: "Port",
      value: "2222",
      restarts: [restart("ssh.service")],
    };
    const began = performance.now();
    const ended = await applyHost(await plan([port]), { connect, confirmSeconds: 10 });
    expect(ended).toMatchObject({ status: "failed", result: "reverted" });
    console.log(`cut off by sshd's port, back after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    expect(await fingerprint(lab(), host)).toBe(before);
    expect(await shell(lab(), host, "sshd -T | grep '^port'")).toBe("port 22");
  });

  test("a firewall that lets nobody in is put back, too", async () => {
    const { connect, plan } = await prepare();
    const table: Resource = {
      ...common,
      risk: "high",
      kind: "nft-table",
      id: "nft-table:closed",
      family: "inet",
      table: "closed",
      rules:
        "table inet closed {\n  chain input {\n    type filter hook input priority 0; policy drop;\n    iif lo accept\n  }\n}",
      after: ["package:nftables"],
    };
    const resources = [everything[0]!, table];
    const before = await fingerprint(lab(), host);
    const ended = await applyHost(await plan(resources), { connect, confirmSeconds: 10 });
    expect(ended).toMatchObject({ status: "failed", result: "reverted" });
    expect(await fingerprint(lab(), host)).toBe(before);
  });
});
