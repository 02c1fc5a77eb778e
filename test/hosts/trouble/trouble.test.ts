/**
 * One host in trouble, and two beside it. Whatever ails the one, its result says
 * what it is, the others get the new revision, and the exit code is 3.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { HostVerdict } from "../../../src/provision/drift/verdict.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { shell } from "../provision/lab-targets.ts";
import { type Applied, applyRevision, type Bend, escapement, revisionOn, type Site } from "./trouble-site.ts";

const troubled = "exec-1";
const others = ["exec-2", "exec-3"];

describe.skipIf(noHosts)("one of three hosts is in trouble", () => {
  const lab = hostLab({ hosts: [troubled, ...others] });
  const folder = mkdtempSync(join(tmpdir(), "escapement-trouble-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const site = (): Site => ({ lab: lab(), folder });
  let revision = 0;

  /** The next revision goes to all hosts; the two well ones must have it. */
  async function apply(bend: Bend = {}): Promise<Applied> {
    revision++;
    const applied = await applyRevision(site(), revision, bend);
    for (const host of others) {
      expect(applied.outcomes[host]).toMatchObject({ status: "changed", result: "committed" });
      expect(await revisionOn(site(), host)).toBe(`revision ${revision}`);
    }
    return applied;
  }

  const on = (line: string) => shell(lab(), troubled, line);

  test("without trouble all have it", async () => {
    const { code, outcomes } = await apply();
    expect(outcomes[troubled]).toMatchObject({ status: "changed", result: "committed" });
    expect(code).toBe(0);
  });

  test("its key is another one", async () => {
    const bend: Bend = { wrongKeyOf: troubled };
    const { code, outcomes } = await apply(bend);
    expect(outcomes[troubled]).toMatchObject({
      status: "unreachable",
      result: "not-started",
      code: "E_HOST_KEY_CHANGED",
      reason: expect.stringContaining("SHA256:"),
    });
    expect(code).toBe(3);
    expect(await revisionOn(site(), troubled)).toBe("revision 1");
    const plan = await escapement(site(), revision, ["plan"], bend);
    expect(plan.stdout).toMatch(/^exec-1 {2}unreachable: .*SHA256:/m);
    expect(plan.stdout).toContain(
      "3 hosts: 2 ok, 0 changed, 0 failed, 0 skipped, 1 unreachable".replace(" changed", " to change"),
    );
    expect(plan.code).toBe(3);
  });

  test("it is cut off", async () => {
    await lab().cut(troubled);
    try {
      const { code, outcomes } = await apply();
      expect(outcomes[troubled]).toMatchObject({
        status: "unreachable",
        result: "not-started",
        code: "E_HOST_UNREACHABLE",
      });
      expect(code).toBe(3);
    } finally {
      await lab().heal(troubled);
    }
  });

  test("sudo asks for a password that nobody gave, and then is refused outright", async () => {
    const { code, outcomes } = await apply({ hosts: { [troubled]: { user: "ops" } } });
    expect(outcomes[troubled]).toMatchObject({
      status: "failed",
      result: "not-started",
      code: "E_HOST_SUDO",
      hint: expect.stringContaining("sudoPasswordFile"),
    });
    expect(code).toBe(3);
    await on(
      "useradd -m -s /bin/bash nobody-special && cp -r ~root/.ssh ~nobody-special/ && chown -R nobody-special: ~nobody-special/.ssh",
    );
    const refused = await apply({ hosts: { [troubled]: { user: "nobody-special" } } });
    expect(refused.outcomes[troubled]).toMatchObject({
      status: "failed",
      result: "not-started",
      code: "E_HOST_SUDO",
    });
    expect(refused.code).toBe(3);
    const given = await apply({
      hosts: { [troubled]: { user: "ops", sudoPasswordFile: lab().opsPasswordFile } },
    });
    expect(given.outcomes[troubled]).toMatchObject({ status: "changed", result: "committed" });
    expect(given.code).toBe(0);
  });

  test("the disk is full where a change is prepared, or where it goes", async () => {
    const before = await revisionOn(site(), troubled);
    for (const [place, result] of [
      ["/var/lib/escapement-apply", "refused"],
      ["/etc/trouble", "reverted"],
    ] as const) {
      const full = `mkdir -p /run/kept && cp -a ${place}/. /run/kept/ && mount -t tmpfs -o size=64k,nr_inodes=200 tmpfs ${place} && cp -a /run/kept/. ${place}/ 2>/dev/null`;
      // What was there is there again as far as it fits, and then nothing more.
      await on(
        `${full}; head -c 1M /dev/zero >${place}/.ballast 2>/dev/null || :; df --output=avail ${place} | tail -n 1`,
      );
      try {
        const { code, outcomes } = await apply();
        expect([place, outcomes[troubled]]).toMatchObject([
          place,
          {
            status: "failed",
            result,
            changes: expect.any(Number),
            reason: expect.stringContaining("No space left on device"),
          },
        ]);
        expect(code).toBe(3);
      } finally {
        await on(`umount ${place}; rm -rf /run/kept`);
      }
      expect(await revisionOn(site(), troubled)).toBe(before);
    }
    const { code } = await apply();
    expect(code).toBe(0);
  });

  test("its shells and its ssh server talk without being asked", async () => {
    await on(`printf '%s\\n' 'Authorised use only.' >/etc/issue.net
      printf '%s\\n' 'Welcome. $(reboot)' >/etc/motd
      printf 'Banner /etc/issue.net\\nPrintMotd yes\\n' >/etc/ssh/sshd_config.d/banner.conf
      systemctl reload ssh
      { printf '%s\\n' 'echo noise; echo noise >&2' 'printf "no line end"' 'printf "\\033[31m{\\"fact\\":\\"path\\"}\\n"'; cat ~root/.bashrc; } >~root/.new && mv ~root/.new ~root/.bashrc
      getent passwd root | grep -q /bin/bash`);
    const { code, outcomes } = await apply();
    expect(outcomes[troubled]).toMatchObject({ status: "changed", result: "committed" });
    expect(code).toBe(0);
    expect(await revisionOn(site(), troubled)).toBe(`revision ${revision}`);
  });

  test("its clock is wrong by an hour", async () => {
    // Logins by ssh have the clock of the units of this host, too.
    await on(
      `systemctl show -p DefaultEnvironment >/dev/null; tr ' ' '\\n' </etc/systemd/system.conf.d/lab-clock.conf | sed -n 's/^.*DefaultEnvironment=//;/=/p' | grep -v Manager >/etc/environment; grep -q LD_PRELOAD /etc/environment`,
    );
    await lab().clock(troubled, 3_600);
    try {
      const { code, outcomes } = await apply();
      expect(outcomes[troubled]).toMatchObject({ status: "changed", result: "committed" });
      expect(code).toBe(0);
      const plan = await escapement(site(), revision, ["plan", "--exit-code"]);
      expect(plan.stdout).toMatch(/^exec-1 .*\n {2}warning: its clock is 1h ahead of this machine's/m);
      expect(plan.stdout.match(/clock/g)).toHaveLength(1);
      // Nothing is restarted again and again because of it.
      expect(plan.code).toBe(0);
      const verify = await escapement(site(), revision, ["verify", "--json"]);
      const { hosts } = JSON.parse(verify.stdout) as { hosts: readonly HostVerdict[] };
      expect(
        Object.fromEntries(
          hosts.map(({ host, answer, deviations }) => [host, [answer, ...deviations.map(({ id }) => id)]]),
        ),
      ).toEqual({
        [troubled]: ["no", "clock"],
        "exec-2": ["yes"],
        "exec-3": ["yes"],
      });
      expect(verify.code).toBe(1);
    } finally {
      await lab().clock(troubled, 0);
    }
  });
});
