/**
 * From six bare hosts to a cluster, and what one does with it afterwards, under
 * a job that fires every three seconds. At the end every fire is on record once,
 * and has left one row in a table that would take two.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { ClusterHosts } from "./cluster-hosts.ts";
import { OwnCopy } from "./own-copy.ts";
import { payments, settlementSite, suppliers } from "./settlement-site.ts";

interface Unit {
  readonly step: string;
  readonly host: string;
  readonly outcome: string;
  readonly because: string;
}

describe.skipIf(noHosts)("six bare hosts", () => {
  const lab = hostLab();
  const own = new OwnCopy();
  let site = "";

  const escapement = (args: readonly string[]) => own.run([...args, "-i", site]);

  async function playbook(name: string, ...args: string[]): Promise<readonly Unit[]> {
    const { status, stdout, stderr } = await escapement([
      "playbook",
      "run",
      name,
      ...args,
      "--yes",
      "--json",
    ]);
    expect(status, `${name}: ${stderr}`).toBe(0);
    return JSON.parse(stdout).units;
  }

  const did = (units: readonly Unit[]) =>
    units.filter((unit) => unit.outcome === "done").map((unit) => `${unit.step} ${unit.host}`);

  const on = new ClusterHosts(lab);
  const ask = (host: string, args: string) => on.ask(host, args);
  const leader = (through: string) => on.leader(through);
  const holdsAddress = (host: string) => on.holdsAddress(host);

  test("bootstrap, stopped by Ctrl-C on its way, goes on and ends with a job that has run", async () => {
    const { hosts, state, inventoryFile } = lab();
    const folder = join(inventoryFile, "..");
    site = await settlementSite({
      folder,
      hosts,
      virtualIp: state.virtualIp,
      timeSources: state.timeSources,
    });
    const args = ["playbook", "run", "bootstrap", "-i", site, "--yes"];
    const first = spawn(process.execPath, [join(own.folder, "bin/escapement.mjs"), ...args]);
    let said = "";
    first.stderr.on("data", (part) => (said += part));
    const exit = new Promise((resolve) => first.on("close", resolve));
    await until(() => said.includes("scheduler-login"), { what: "the schema", deadlineMs: 300_000 });
    first.kill("SIGINT");
    expect(await exit, said).toBe(130);

    const units = await playbook("bootstrap");
    // What had been settled is not done again.
    expect(did(units)).not.toContain("toolkit sched-1");
    expect(did(units)).not.toContain("schema store-1");
    expect(did(units)).toEqual(
      expect.arrayContaining(["schedulers sched-1", "executors exec-2", "proof sched-1"]),
    );
    const { executions } = await ask("sched-1", "executions --job finance/settlement --status success");
    expect(executions).toHaveLength(1);
    expect(
      await on.inLedger("SELECT count(*), count(DISTINCT supplier_id), sum(payments) FROM settlement"),
    ).toBe(`${suppliers}|${suppliers}|${payments}`);
  }, 900_000);

  test("a second apply changes nothing, the plan is empty, and so is a second bootstrap", async () => {
    const applied = await escapement(["apply", "--yes", "--json"]);
    expect(applied.status, applied.stdout).toBe(0);
    const { hosts } = JSON.parse(applied.stdout) as { hosts: { status: string; changes: number }[] };
    expect(hosts.map((one) => [one.status, one.changes])).toEqual(Array(6).fill(["ok", 0]));
    const plan = await escapement(["plan", "--exit-code"]);
    expect(plan.status, plan.stdout).toBe(0);
    const units = await playbook("bootstrap");
    expect(units.filter((unit) => unit.outcome === "done" && /[1-9]\d* change/.test(unit.because))).toEqual(
      [],
    );
    expect(
      (await ask("sched-1", "executions --job finance/settlement --status success")).executions,
    ).toHaveLength(1);
  }, 300_000);

  test("a change is made and rolled back on a host at work, and then there is nothing to do", async () => {
    const text = readFileSync(site, "utf8");
    const users = () => on.shell("exec-2", "cat /etc/escapement/job-users");
    const before = await users();
    writeFileSync(site, text.replace("  settings:\n", "  settings:\n    jobUsers: [www-data]\n"));
    try {
      const applied = await escapement(["apply", "exec-2", "--yes", "--json"]);
      expect(JSON.parse(applied.stdout).hosts, applied.stderr).toMatchObject([{ result: "committed" }]);
      expect(await users()).toContain("www-data");
      const back = await escapement(["rollback", "exec-2", "--yes"]);
      expect(back.status, back.stdout + back.stderr).toBe(0);
      expect(await users()).toBe(before);
    } finally {
      writeFileSync(site, text);
    }
    const plan = await escapement(["plan", "--exit-code"]);
    expect(plan.status, plan.stdout).toBe(0);
  }, 300_000);

  test("drain-host: no new work, what runs ends, no running record, restart, work again", async () => {
    const pidOf = () => on.shell("exec-2", "systemctl show -p MainPID --value escapement-executor");
    const before = await pidOf();
    expect(did(await playbook("drain-host", "--host", "exec-2"))).toEqual(
      expect.arrayContaining(["stop-new-work exec-2", "restart exec-2", "work-again exec-2"]),
    );
    expect(await pidOf()).not.toBe(before);
    const { drained, executors } = await ask("sched-1", "status");
    expect(drained).toEqual([]);
    expect(executors.map((one: { node: string }) => one.node)).toEqual(["exec-1", "exec-2"]);
  }, 300_000);

  test("switch-scheduler: the other one leads, and has the address", async () => {
    const from = await leader("sched-1");
    const to = from === "sched-1" ? "sched-2" : "sched-1";
    await playbook("switch-scheduler", "--host", from);
    expect(await leader("sched-1")).toBe(to);
    expect([await holdsAddress(from), await holdsAddress(to)]).toEqual([false, true]);
  }, 300_000);

  test("upgrade goes host by host, and its undo brings the version before back everywhere", async () => {
    const runs = async (host: string, unit: string) =>
      on.shell(host, `readlink /proc/$(systemctl show -p MainPID --value ${unit})/exe`);
    const daemons = [
      ["sched-1", "escapement-scheduler"],
      ["sched-2", "escapement-scheduler"],
      ["exec-1", "escapement-executor"],
      ["exec-2", "escapement-executor"],
      ["watch-1", "escapement-watchman"],
    ] as const;
    const versions = () => Promise.all(daemons.map(([host, unit]) => runs(host, unit)));
    const before = await versions();
    expect(new Set(before).size).toBe(1);
    own.change();
    await playbook("upgrade");
    const after = await versions();
    expect(new Set([...after, ...before]).size).toBe(2);
    await playbook("upgrade", "--undo");
    expect(await versions()).toEqual(before);
  }, 600_000);

  test("the plug of the active scheduler is pulled: the address moves, the other one plans, nothing is lost", async () => {
    const from = await leader("sched-1");
    const to = from === "sched-1" ? "sched-2" : "sched-1";
    await lab().powerOff(from);
    await until(async () => (await leader(to)) === to, { what: "the standby to lead", deadlineMs: 60_000 });
    await until(() => holdsAddress(to), { what: "the address to move", deadlineMs: 60_000 });
    const { now } = await ask(to, "status");
    await until(
      async () =>
        (await ask(to, `executions --job finance/refresh --status success --from ${now}`)).executions
          .length >= 5,
      { what: "fires after the takeover", deadlineMs: 60_000, everyMs: 1_000 },
    );
    await lab().powerOn(from);
    await until(
      async () =>
        (await ask(to, "status")).schedulers.filter((one: { role: string }) =>
          ["leader", "standby"].includes(one.role),
        ).length === 2,
      { what: "the first scheduler to stand by", deadlineMs: 120_000, everyMs: 1_000 },
    );
  }, 600_000);

  test("schedulers that cannot hear each other both have the address: both say so, and one of them plans", async () => {
    const schedulers = ["sched-1", "sched-2"];
    const said = async () => {
      const status = await ask("sched-1", "status");
      const rows = status.schedulers as { role: string; holdsVirtualAddress: boolean | null }[];
      return rows.map((one) => String(one.holdsVirtualAddress)).sort();
    };
    const oneHolder = async () => `${await said()}` === "false,true";
    await until(oneHolder, { what: "one holder", deadlineMs: 60_000, everyMs: 1_000 });
    const deaf =
      "table inet deaf { chain in { type filter hook input priority -300; ip protocol vrrp drop; }; }";
    await Promise.all(schedulers.map((host) => on.shell(host, `echo '${deaf}' | nft -f -`)));
    try {
      const bothHold = async () => `${await said()}` === "true,true";
      await until(bothHold, { what: "two holders", deadlineMs: 60_000, everyMs: 1_000 });
      expect(await Promise.all(schedulers.map(holdsAddress))).toEqual([true, true]);
      expect(["sched-1", "sched-2"]).toContain(await leader("sched-1"));
      const status = "ESCAPEMENT_STORE_URL=$(cat /etc/escapement/store-url) escapement status";
      expect(await on.shell("sched-1", status)).toContain(
        "sched-1 and sched-2 hold the virtual address at once",
      );
    } finally {
      await Promise.all(schedulers.map((host) => on.run(host, "nft", "delete", "table", "inet", "deaf")));
    }
    await until(oneHolder, { what: "one holder again", deadlineMs: 60_000, everyMs: 1_000 });
  }, 300_000);

  test("replace-host: an executor and a standby scheduler that lost everything are new machines under their names", async () => {
    const wipe = (host: string, unit: string) =>
      on.shell(
        host,
        `systemctl disable --now ${unit}; rm -rf /opt/escapement /etc/escapement /var/lib/escapement* /etc/systemd/system/escapement-* /usr/local/bin/escapement; systemctl daemon-reload`,
      );
    await wipe("exec-1", "escapement-executor");
    await on.run("exec-1", "sh", "-c", "rm /etc/ssh/ssh_host_* && ssh-keygen -q -A && systemctl restart ssh");
    // A new machine shows a new key: nobody logs in before a person has said that it is the right one.
    const early = await escapement(["playbook", "run", "replace-host", "--host", "exec-1", "--yes"]);
    expect([early.status, early.stdout + early.stderr]).toEqual([
      1,
      expect.stringMatching(/exec-1 shows another key than before[\s\S]*hosts trust exec-1 --replace/),
    ]);
    expect((await ask("sched-2", "status")).drained).toEqual([]);
    const shown = await on.run("exec-1", "ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key.pub");
    const trust = ["hosts", "trust", "exec-1", "--replace", "--fingerprint", shown.split(" ")[1]!];
    const trusted = await escapement(trust);
    expect(trusted.status, trusted.stderr).toBe(0);
    const executor = await playbook("replace-host", "--host", "exec-1");
    expect(did(executor)).toEqual(
      expect.arrayContaining([
        "no-new-work exec-1",
        "toolkit exec-1",
        "login exec-1",
        "executor exec-1",
        "work exec-1",
      ]),
    );
    expect((await ask("sched-2", "status")).drained).toEqual([]);

    const standby = (await leader("sched-2")) === "sched-1" ? "sched-2" : "sched-1";
    const other = standby === "sched-1" ? "sched-2" : "sched-1";
    await wipe(standby, "escapement-scheduler");
    const scheduler = await playbook("replace-host", "--host", standby);
    expect(did(scheduler)).toEqual(
      expect.arrayContaining([`toolkit ${standby}`, `scheduler-login ${standby}`, `scheduler ${standby}`]),
    );
    expect(await leader(standby)).toBe(other);
  }, 300_000);

  test("retire-host: drained, stopped, and out of the store; its undo and add-executor bring it back", async () => {
    const executorsOf = async () => {
      const { drained, executors } = await ask("sched-2", "status");
      const names = (rows: { node: string }[]) => rows.map((one) => one.node);
      return { drained: names(drained), executors: names(executors) };
    };
    const both = { drained: [], executors: ["exec-1", "exec-2"] };
    const retired = { drained: ["exec-1"], executors: ["exec-2"] };
    await playbook("retire-host", "--host", "exec-1");
    expect(await on.run("exec-1", "systemctl", "is-active", "escapement-executor")).toBe("inactive");
    expect(await executorsOf()).toEqual(retired);
    await playbook("retire-host", "--host", "exec-1", "--undo");
    await until(async () => JSON.stringify(await executorsOf()) === JSON.stringify(both), {
      what: "the executor to be back",
      deadlineMs: 60_000,
      everyMs: 1_000,
    });
    await playbook("retire-host", "--host", "exec-1");
    expect(await executorsOf()).toEqual(retired);
    expect(did(await playbook("add-executor", "--host", "exec-1"))).toEqual(
      expect.arrayContaining(["login exec-1", "executor exec-1", "work exec-1"]),
    );
    expect(await executorsOf()).toEqual(both);
  }, 600_000);

  test("of all fires under this load none was lost and none was doubled", async () => {
    const { now } = await ask("sched-2", "status");
    const horizon = new Date(new Date(now).getTime() - 15_000).toISOString();
    const { executions } = (await ask(
      "sched-2",
      `executions --job finance/refresh --to ${horizon} --limit 100000`,
    )) as {
      executions: { fireTime: string; status: string }[];
    };
    const fires = executions.map((one) => new Date(one.fireTime).getTime()).sort((a, b) => a - b);
    const gaps = fires.slice(1).map((fire, i) => fire - fires[i]!);
    expect(fires.length).toBeGreaterThan(20);
    expect(new Set(gaps), "every three seconds, without a gap").toEqual(new Set([3_000]));
    expect(new Set(executions.map((one) => one.status))).toEqual(new Set(["success"]));
    const rows = await on.inLedger(
      `SELECT count(*), count(DISTINCT fire_time) FROM snapshot WHERE job = 'finance/refresh' AND fire_time <= '${horizon}'`,
    );
    expect(rows).toBe(`${fires.length}|${fires.length}`);
    expect(
      (await ask("sched-2", "executions --job finance/settlement --status success")).executions,
    ).toHaveLength(1);
    console.info(`${fires.length} fires, each on record once, each with one row`);
  }, 120_000);
});
