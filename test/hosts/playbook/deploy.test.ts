/** The toolkit on real hosts: uploaded once, checked by the host, and it runs there. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { OwnCopy } from "./own-copy.ts";

describe.skipIf(noHosts)("deploy", () => {
  const lab = hostLab({ hosts: ["sched-1", "exec-1"] });
  const own = new OwnCopy();
  const escapement = (args: readonly string[]) => own.run([...args, "-i", lab().inventoryFile, "--json"]);

  test("two fresh hosts get the toolkit at once; a second time nothing is uploaded; it runs there without a Node of its own", async () => {
    const first = await escapement(["deploy"]);
    expect(first.status, first.stderr).toBe(0);
    const { release, hosts } = JSON.parse(first.stdout) as {
      release: string;
      hosts: { host: string; status: string; value: { changed: boolean; uploadedBytes: number } }[];
    };
    expect(hosts).toMatchObject([
      { host: "sched-1", status: "ok", value: { changed: true } },
      { host: "exec-1", status: "ok", value: { changed: true } },
    ]);
    for (const host of ["sched-1", "exec-1"]) {
      const { stdout } = await lab().exec(host, ["/usr/local/bin/escapement", "--version"]);
      expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+/);
      const where = await lab().exec(host, [
        "stat",
        "-c",
        "%U:%G %a",
        `/opt/escapement/versions/${release}/node`,
      ]);
      expect(where.stdout.trim()).toBe("root:root 755");
    }
    const again = JSON.parse((await escapement(["deploy"])).stdout);
    expect(again.hosts.map((one: { value: { uploadedBytes: number } }) => one.value.uploadedBytes)).toEqual([
      0, 0,
    ]);
  }, 600_000);

  test("a program that was changed on the host is noticed and mended; there is no earlier version to go back to", async () => {
    await lab().exec("sched-1", ["sh", "-c", "echo x >> /opt/escapement/current/escapement.mjs"]);
    const rollback = await escapement(["deploy", "--rollback", "sched-1"]);
    expect(JSON.parse(rollback.stdout).hosts).toMatchObject([{ status: "failed", code: "E_REFUSED" }]);
    const mended = JSON.parse((await escapement(["deploy", "sched-1"])).stdout);
    // Node is lent by the version that is there; only the program goes over the wire again.
    expect(mended.hosts).toMatchObject([{ status: "ok" }]);
    expect(mended.hosts[0].value.uploadedBytes).toBeLessThan(20_000_000);
    const { stdout } = await lab().exec("sched-1", ["/usr/local/bin/escapement", "--version"]);
    expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+/);
  }, 600_000);

  test("the timer of the job logs moves what is old to the archive, as the executor's user", async () => {
    const site = mkdtempSync(join(tmpdir(), "escapement-logs-site-"));
    onTestFinished(() => rmSync(site, { recursive: true, force: true }));
    const write = (kind: string, spec: unknown) => {
      const file = join(site, `${kind}.yaml`);
      const head = `apiVersion: escapement/v1\nkind: ${kind}\nmetadata: { name: logs }`;
      writeFileSync(file, `${head}\nspec: ${JSON.stringify(spec)}\n`);
      return file;
    };
    const { address } = lab().hosts.find(({ name }) => name === "exec-1")!;
    const inventory = write("Inventory", {
      defaults: { user: "root", identityFile: lab().identityFile, knownHostsFile: lab().knownHostsFile },
      settings: { logArchive: "/srv/archive" },
      hosts: [{ name: "exec-1", address, profile: "logs" }],
    });
    const user = "escapement-executor";
    const profile = write("HostProfile", {
      jobLogs: {
        directory: "/var/log/escapement/jobs",
        ...{ maxFile: "1MiB", keepFiles: 9, keepDays: 30, keepMonths: 12, shipAt: "*-*-* 03:30:00 UTC" },
      },
      resources: [
        { kind: "group", name: "escapement", system: true },
        { kind: "group", name: user, system: true },
        {
          kind: "user",
          name: user,
          system: true,
          group: user,
          groups: ["escapement"],
          after: [`group:${user}`],
        },
        {
          kind: "directory",
          path: "/srv/archive",
          owner: user,
          group: user,
          mode: "0700",
          after: [`user:${user}`],
        },
      ],
    });
    const applied = await own.run(["apply", "--yes", "-i", inventory, "--profiles", profile, "--json"]);
    expect(applied.status, applied.stdout + applied.stderr).toBe(0);

    const on = async (line: string) => (await lab().exec("exec-1", ["sh", "-c", line])).stdout.trim();
    const timer = "escapement-ship-logs.timer";
    expect(await on(`systemctl show -p ActiveState -p Unit --value ${timer} | sort`)).toBe(
      "active\nescapement-ship-logs.service",
    );
    const logs = "/var/log/escapement/jobs/exec-1/finance";
    await on(`install -d -o ${user} ${logs} && cd ${logs} && echo '2026-01-02T03:04:05.678Z old' >pay.log.2 &&
      echo young >pay.log.1 && echo now >pay.log && touch -d '31 days ago' pay.log.2 && chown ${user} *`);
    expect(await on("systemctl start escapement-ship-logs.service && echo ended")).toBe("ended");
    expect(await on(`ls ${logs}`)).toBe("pay.log\npay.log.1");
    const archived = "/srv/archive/exec-1/exec-1/finance/pay/20260102T030405Z-*.log.gz";
    expect(await on(`zcat ${archived}; stat -c %U ${archived}`)).toBe(
      `2026-01-02T03:04:05.678Z old\n${user}`,
    );
  }, 600_000);

  test("a host that is off is told apart, and the other is done all the same", async () => {
    await lab().powerOff("exec-1");
    const { status, stdout } = await escapement(["deploy"]);
    expect(status).toBe(3);
    expect(JSON.parse(stdout).hosts).toMatchObject([
      { host: "sched-1", status: "ok" },
      { host: "exec-1", status: "unreachable" },
    ]);
  }, 600_000);
});
