/**
 * One apply to four hosts: the first dies in the middle and comes back, the
 * second dies and stays dead, on the third somebody holds the lock of dpkg. The
 * fourth must not notice any of it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { shell } from "../provision/lab-targets.ts";
import {
  type Applied,
  applyRevision,
  type Bend,
  middleFile,
  revisionOn,
  type Site,
  slowFile,
} from "./trouble-site.ts";

const [reborn, dead, locked, well] = ["exec-1", "exec-2", "exec-3", "exec-4"] as const;

describe.skipIf(noHosts)("three of four hosts are in trouble", () => {
  const lab = hostLab({ hosts: [reborn, dead, locked, well] });
  const folder = mkdtempSync(join(tmpdir(), "escapement-trouble-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const site = (): Site => ({ lab: lab(), folder });
  const withPackage: Bend = { resources: [{ kind: "package", name: "socat" }] };
  let applied: Applied | undefined;
  const outcomeOf = (host: string) => applied?.outcomes[host];

  test("the well host has the change long before the others are given up", async () => {
    expect((await applyRevision(site(), 1)).code).toBe(0);
    for (const host of [reborn, dead]) await shell(lab(), host, `touch ${slowFile}`);
    // The lock as dpkg takes it, held by a unit of the host.
    await shell(
      lab(),
      locked,
      `systemd-run --quiet --unit=holds-lock --collect /usr/bin/python3 -c '
import fcntl, signal
lock = open("/var/lib/dpkg/lock-frontend", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
open("/run/lock-is-held", "w")
signal.pause()'`,
    );
    await until(async () => (await lab().exec(locked, ["test", "-e", "/run/lock-is-held"])).code === 0, {
      what: "the lock is held",
    });
    const applying = applyRevision(site(), 2, withPackage);
    try {
      await Promise.all(
        [reborn, dead].map(async (host) => {
          await until(async () => (await lab().exec(host, ["test", "-e", middleFile])).code === 0, {
            what: `${host} is in the middle`,
            deadlineMs: 120_000,
          });
          // The new file is in place, and nothing is confirmed.
          expect(await revisionOn(site(), host)).toBe("revision 2");
          await lab().powerOff(host);
        }),
      );
      await until(async () => (await revisionOn(site(), well)) === "revision 2", {
        what: "the well host has it",
      });
      await lab().powerOn(reborn);
    } finally {
      applied = await applying;
    }
    expect(outcomeOf(well)).toMatchObject({ status: "changed", result: "committed" });
    expect(applied.code).toBe(3);
  });

  test("the host that came back has put everything back at its boot", async () => {
    expect(outcomeOf(reborn)).toMatchObject({ status: "failed", result: "reverted", changes: 0 });
    expect(await revisionOn(site(), reborn)).toBe("revision 1");
    expect((await lab().exec(reborn, ["dpkg-query", "-W", "socat"])).stdout).not.toContain("socat\t");
  });

  test("of the dead host nobody knows, and the result says so", async () => {
    expect(outcomeOf(dead)).toMatchObject({
      status: "unknown",
      result: "lost",
      reason: expect.stringMatching(/could not be confirmed .*puts everything back by itself/),
      hint: expect.stringContaining("escapement plan"),
    });
  });

  test("the locked host says who is in the way, and is as before", async () => {
    expect(outcomeOf(locked)).toMatchObject({
      status: "failed",
      result: "reverted",
      reason: expect.stringContaining("another program holds the lock of apt or dpkg; waited 60 s"),
    });
    expect(await revisionOn(site(), locked)).toBe("revision 1");
  });

  test("when the trouble is over, the next apply brings all to the same", async () => {
    await lab().powerOn(dead);
    await until(
      async () =>
        (await lab().exec(dead, ["sh", "-c", "ls /var/lib/escapement-apply/txn/*/reverted"])).code === 0,
      { what: "its boot has put everything back", deadlineMs: 120_000 },
    );
    expect(await revisionOn(site(), dead)).toBe("revision 1");
    await shell(lab(), locked, "systemctl stop holds-lock.service");
    const again = await applyRevision(site(), 2, withPackage);
    expect(again.outcomes).toMatchObject({
      [reborn]: { status: "changed", result: "committed" },
      [dead]: { status: "changed", result: "committed" },
      [locked]: { status: "changed", result: "committed" },
      [well]: { status: "ok", result: "unchanged" },
    });
    expect(again.code).toBe(0);
    for (const host of [reborn, dead, locked]) expect(await revisionOn(site(), host)).toBe("revision 2");
  });
});
