/** What a host refuses, whoever asks: only an order that is signed, fresh, its own and allowed begins a drill. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DrillOrder } from "../../../src/chaos/host/drill-host.ts";
import { type DrillKey, makeDrillKey } from "../../../src/chaos/host/drill-key.ts";
import { orderText, signedOrder } from "../../../src/chaos/host/order-text.ts";
import { drillTarget, type SshDrillHost } from "../../../src/chaos/host/ssh-drill-host.ts";
import { connector } from "../../../src/remote/connect.ts";
import type { Remote } from "../../../src/remote/remote.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { shell } from "../provision/lab-targets.ts";
import { drillHost, everything, prepareVictim, stageDrills, targetOf, victim } from "./staged-host.ts";

const name = "exec-1";

describe.skipIf(noHosts)("what a host refuses", () => {
  const lab = hostLab({ hosts: [name] });
  const folder = mkdtempSync(join(tmpdir(), "escapement-drill-"));
  let key: DrillKey;
  let stranger: DrillKey;
  let host: SshDrillHost;
  let login: Remote;
  let bootId: string;
  let bootMs: number;

  beforeAll(async () => {
    key = await makeDrillKey(join(folder, "key"));
    stranger = await makeDrillKey(join(folder, "stranger"));
    await stageDrills(
      lab(),
      name,
      key,
      everything.filter((line) => line !== "fault memory-limit" && !line.startsWith("clock-file")),
    );
    await prepareVictim(lab(), name);
    host = await drillHost(lab(), name, key);
    login = await connector()(drillTarget(await targetOf(lab(), name), key));
    ({ bootId, bootMs } = await host.look([]));
  });
  afterAll(async () => {
    await login?.close();
    await host?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const order = (more: Partial<DrillOrder> = {}): DrillOrder => ({
    run: randomUUID(),
    host: name,
    bootId,
    fault: "kill",
    unit: victim,
    holdSeconds: 1,
    limitSeconds: 5,
    ...more,
  });
  const text = (more: Partial<DrillOrder> = {}, at = bootMs) =>
    orderText(order(more), { bootMs: at, validMs: 600_000, issuedMs: Date.now() });
  async function send(stdin: string): Promise<string> {
    const { stdout, exitCode } = await login.exec({
      argv: ["begin"],
      forced: true,
      stdin,
      deadlineMs: 30_000,
    });
    expect(exitCode).toBe(stdout.startsWith("refused ") ? 10 : 0);
    return stdout.trim();
  }

  test.each<[string, () => string, RegExp]>([
    ["nothing", () => "", /no signed order/],
    ["no signature", () => text(), /no signed order/],
    ["another's signature", () => signedOrder(text(), stranger), /signature/],
    [
      "an order that was changed after it was signed",
      () => signedOrder(text(), key).replace("holdSeconds=1", "holdSeconds=9"),
      /signature/,
    ],
    [
      "a signature for something else",
      () => signedOrder(text(), key).replace(/\n[^\n]+\n-----END/, "\nAAAA\n-----END"),
      /signature/,
    ],
    ["an order of yesterday", () => signedOrder(text({}, bootMs - 86_400_000), key), /expired|until when/],
    ["an order that has just expired", () => signedOrder(text({}, bootMs - 601_000), key), /expired/],
    ["an order of tomorrow", () => signedOrder(text({}, bootMs + 86_400_000), key), /not hold yet/],
    [
      "an order that holds too long",
      () => signedOrder(text().replace(/expiresBootMs=\d+/, `expiresBootMs=${bootMs + 3_600_000}`), key),
      /longer than 15 minutes/,
    ],
    ["an order for another host", () => signedOrder(text({ host: "exec-2" }), key), /for host exec-2/],
    ["an order for another boot", () => signedOrder(text({ bootId: randomUUID() }), key), /for boot/],
    [
      "a fault that is not allowed",
      () => signedOrder(text({ fault: "memory-limit", limitBytes: 1 << 20 }), key),
      /not allow the fault/,
    ],
    [
      "a unit that is not allowed",
      () => signedOrder(text({ unit: "ssh.service" }), key),
      /not allow the unit ssh/,
    ],
    [
      "a unit that is not there",
      () => signedOrder(text({ unit: "nothing.service" }), key),
      /not allow the unit/,
    ],
    [
      "a path that is not allowed",
      () => signedOrder(text({ fault: "fill-disk", path: "/etc", reserveBytes: 2 << 20 }), key),
      /not allow the path/,
    ],
    [
      "a path with dots",
      () => signedOrder(text({ fault: "fill-disk", path: "/srv/fill/..", reserveBytes: 2 << 20 }), key),
      /not allow the path/,
    ],
    [
      "too small a reserve",
      () => signedOrder(text({ fault: "fill-disk", path: "/srv/fill", reserveBytes: 9 }), key),
      /reserve 9/,
    ],
    [
      "too long a hold",
      () => signedOrder(text({ holdSeconds: 121, limitSeconds: 130 }), key),
      /121 is more than the 120/,
    ],
    ["too long a limit", () => signedOrder(text({ limitSeconds: 181 }), key), /181 is more/],
    ["a limit within the hold", () => signedOrder(text({ holdSeconds: 9 }), key), /longer than the hold/],
    [
      "too far an offset",
      () => signedOrder(text({ fault: "clock", offsetSeconds: -601 }), key),
      /601 is more/,
    ],
    [
      "a clock that cannot be moved",
      () => signedOrder(text({ fault: "clock", offsetSeconds: 300 }), key),
      /needs-vm/,
    ],
    ["a key twice", () => signedOrder(`${text()}host=exec-1\n`, key), /twice/],
    ["a key nobody knows", () => signedOrder(`${text()}shell=1\n`, key), /does not know/],
    [
      "a word for the shell",
      () => signedOrder(text().replace("unit=victim", "unit=$(id)"), key),
      /no order has/,
    ],
    ["another version", () => signedOrder(text().replace("order 1", "order 2"), key), /version/],
  ])("%s", async (_, makeIt, why) => {
    expect(await send(makeIt())).toMatch(new RegExp(`^refused .*(${why.source})`));
  });

  test("an order a second time, also after a refusal for another reason", async () => {
    const once = signedOrder(text({ unit: "ssh.service" }), key);
    expect(await send(once)).toMatch(/not allow the unit/);
    expect(await send(once)).toMatch(/used before/);
  });

  test("an order that was made before the last halt", async () => {
    const before = text();
    await host.halt();
    expect(await send(signedOrder(before, key))).toMatch(/before the last halt/);
    ({ bootMs } = await host.look([]));
  });

  test("the login runs nothing else", async () => {
    const said = async (argv: readonly string[]) =>
      (await login.exec({ argv, forced: true, deadlineMs: 30_000 })).stdout.trim();
    expect(await said(["boot"])).toMatch(/^refused/);
    expect(await said(["restore", randomUUID()])).toMatch(/^refused/);
    expect(await said(["progress", "../../../etc/escapement"])).toBe("state none");
    // As it is called from outside: words of a shell, and without any.
    const plain = await login
      .exec({ argv: ["sh", "-c", "id > /tmp/x"], deadlineMs: 30_000, forced: false })
      .then(
        ({ stdout }) => stdout,
        (error: Error) => error.message,
      );
    expect(plain).not.toContain("uid=");
    await shell(lab(), name, "[ ! -e /tmp/x ]");
    // Nor does sudo let it give the program words of its own.
    const sudo = await lab().exec(name, [
      "setpriv",
      "--reuid=escapement-drill",
      "--regid=escapement-drill",
      "--init-groups",
      "sudo",
      "-n",
      "/usr/local/lib/escapement/drill",
      "halt",
    ]);
    expect(sudo.code).not.toBe(0);
  });

  test("a list that others than root may write allows nothing", async () => {
    await shell(lab(), name, "chmod 666 /etc/escapement/drill/allowed");
    expect(await send(signedOrder(text(), key))).toMatch(/others than root may write it/);
    await shell(
      lab(),
      name,
      "chmod 644 /etc/escapement/drill/allowed; chown escapement-drill /etc/escapement/drill/signers",
    );
    expect(await send(signedOrder(text(), key))).toMatch(/signers is missing, or others/);
    await shell(lab(), name, "chown root /etc/escapement/drill/signers");
  });

  test("after all that nothing has happened, and a right order still begins", async () => {
    expect(await host.audit()).toEqual({ residue: [], unseen: [] });
    expect((await host.look([victim])).units[victim]).toMatchObject({ active: "active", restarts: 0 });
    expect(await send(signedOrder(text(), key))).toMatch(/^begun /);
    await host.halt();
  });
});
