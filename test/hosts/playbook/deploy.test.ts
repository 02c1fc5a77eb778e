/** The toolkit on real hosts: uploaded once, checked by the host, and it runs there. */
import { describe, expect, test } from "vitest";
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
