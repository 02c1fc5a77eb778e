/** `escapement lab` as a person types it, on two labs at once. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LabPlace } from "../../../src/lab/hosts/lab-place.ts";
import { takeDown } from "../../../src/lab/hosts/take-down.ts";
import { loadFiles } from "../../../src/spec/load.ts";
import { noHosts } from "../../support/host-lab.ts";
import { runEscapement, startProcess } from "../../support/processes.ts";

const first = `one${process.pid}`;
const second = `two${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "escapement-lab-command-"));
const lab = (...args: string[]) => runEscapement(["lab", ...args]);

test("what is not there is said, with what to do", async () => {
  expect(await lab("up", "--tier", "process", "--hosts", "3")).toMatchObject({
    code: 69,
    stderr: expect.stringContaining("E_LAB_TIER"),
  });
  expect(await lab("up", "--tier", "cloud")).toMatchObject({ code: 64 });
  expect(await lab("exec", "--name", "nowhere", "exec-1", "--", "true")).toMatchObject({
    code: 69,
    stderr: expect.stringContaining("E_LAB_MISSING"),
  });
});

describe.skipIf(noHosts)("two labs", () => {
  beforeAll(async () => {
    const ups = await Promise.all([
      lab("up", "--name", first, "--hosts", "exec-1", "sched-1", "-o", join(folder, "one")),
      lab("up", "--name", second, "--hosts", "1", "-o", join(folder, "two"), "--json"),
    ]);
    for (const one of ups) expect(one.code, one.stderr).toBe(0);
    const document = JSON.parse(ups[1].stdout);
    expect(document).toMatchObject({ schemaVersion: 1, name: second, hosts: [{ name: "sched-1" }] });
  }, 20 * 60_000);
  afterAll(async () => {
    await takeDown(new LabPlace(first));
    await takeDown(new LabPlace(second));
    rmSync(folder, { recursive: true, force: true });
  });

  const status = async (name: string) => JSON.parse((await lab("status", "--name", name, "--json")).stdout);

  test("have addresses of their own, and status tells both", async () => {
    const [one, two] = [(await status(first)).labs[0], (await status(second)).labs[0]];
    expect([one.condition, two.condition]).toEqual(["up", "up"]);
    const network = (address: string) => address.split(".").slice(0, 3).join(".");
    expect(network(one.hosts[0].address)).not.toBe(network(two.hosts[0].address));
    expect((await status(first)).capabilities).toContainEqual(
      expect.objectContaining({ name: "kernel-clock", verdict: "unknown", needs: "needs-vm" }),
    );
  });

  test("the inventory is valid, and ssh by its files reaches root, and ops who needs a password for sudo", async () => {
    const file = join(folder, "one/inventory.yaml");
    expect((await loadFiles([file])).problems).toEqual([]);
    expect(statSync(join(folder, "one/id_ed25519")).mode & 0o777).toBe(0o600);
    const { address } = (await status(first)).labs[0].hosts[0];
    const ssh = (user: string, line: string, input = "") =>
      startProcess(
        [
          "ssh",
          ...["-F", "none", "-i", join(folder, "one/id_ed25519"), "-o", "BatchMode=yes"],
          ...[
            "-o",
            `UserKnownHostsFile=${join(folder, "one/known_hosts")}`,
            "-o",
            "StrictHostKeyChecking=yes",
          ],
          ...[`${user}@${address}`, line],
        ],
        { input },
      ).then(async (one) => ({ ...(await one.exited), out: one.stdout().trim() }));
    expect(await ssh("root", "hostname")).toMatchObject({ code: 0, out: "exec-1" });
    expect((await ssh("ops", "sudo -n true")).code).not.toBe(0);
    const password = readFileSync(join(folder, "one/ops-password"), "utf8");
    expect(await ssh("ops", "sudo -S -p '' id -un", password)).toMatchObject({ code: 0, out: "root" });
  });

  test("exec hands over output and exit code", async () => {
    const done = await lab("exec", "--name", first, "exec-1", "--", "sh", "-c", "pwd; hostname; exit 7");
    expect(done).toMatchObject({ code: 7, stdout: "/\nexec-1\n" });
  });

  test("faults of one host show in its status, and in no other lab", async () => {
    expect((await lab("cut", "--name", first, "exec-1", "--receive-only", "--from", "sched-1")).code).toBe(0);
    expect((await lab("clock", "--name", first, "exec-1", "-300")).code).toBe(0);
    expect((await lab("power-off", "--name", first, "sched-1")).code).toBe(0);
    const [one, two] = [(await status(first)).labs[0], (await status(second)).labs[0]];
    expect(one.hosts).toMatchObject([
      {
        name: "exec-1",
        power: "on",
        clockOffsetSeconds: -300,
        cuts: [{ direction: "receive", peers: ["sched-1"] }],
      },
      { name: "sched-1", power: "off", clockOffsetSeconds: 0, cuts: [] },
    ]);
    expect(two.hosts).toMatchObject([{ power: "on", clockOffsetSeconds: 0, cuts: [] }]);
    expect((await lab("exec", "--name", first, "sched-1", "--", "true")).code).toBe(69);
    expect((await lab("heal", "--name", first)).code).toBe(0);
    expect((await lab("power-on", "--name", first, "sched-1")).code).toBe(0);
    expect((await status(first)).labs[0].hosts).toMatchObject([{ cuts: [] }, { power: "on" }]);
  });

  test("a name or a host that is wrong, a name that is taken, a folder that has such files: refused", async () => {
    expect((await lab("up", "--name", first)).code).toBe(4);
    expect((await lab("cut", "--name", first, "nobody")).code).toBe(64);
    expect((await lab("cut", "--name", first, "exec-1", "--from", "nobody")).code).toBe(64);
    expect((await lab("clock", "--name", first, "exec-1", "soon")).code).toBe(64);
    writeFileSync(join(folder, "id_ed25519"), "somebody's own");
    expect((await lab("up", "--name", `x${process.pid}`, "-o", folder)).code).toBe(64);
    expect(readFileSync(join(folder, "id_ed25519"), "utf8")).toBe("somebody's own");
  });
});
