/**
 * A cluster of five hosts, bootstrapped with its watch file: both schedulers go
 * down, and the alert arrives in time; then one fault after the other is
 * planted, and watchman and diagnosis name each.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { OwnCopy } from "../playbook/own-copy.ts";
import { hookKey, openReceiver, pairSite } from "./pair-site.ts";

const limitMs = 600_000;
const patient = { deadlineMs: 150_000, everyMs: 500 };
const periodMs = 60_000;

interface Diagnosed {
  readonly job: string;
  readonly class: string;
  readonly cause: string;
}

describe.skipIf(noHosts)("a scheduler pair, and a watchman apart from it", () => {
  const lab = hostLab({ hosts: ["sched-1", "sched-2", "exec-1", "store-1", "watch-1"] });
  const own = new OwnCopy();
  let receiver: Awaited<ReturnType<typeof openReceiver>>;
  let site = "";
  /** Without a whole cluster the rest can only wait for nothing. */
  let isUp = false;

  const on = async (host: string, line: string): Promise<string> => {
    const { code, stdout, stderr } = await lab().exec(host, ["env", "-C", "/", "sh", "-c", line]);
    if (code !== 0) throw new Error(`${host}: ${line}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  /** A command of the toolkit that may end with any code, with the login of a host. */
  const ask = async (args: string, host = "watch-1") =>
    JSON.parse(
      await on(
        host,
        `ESCAPEMENT_STORE_URL=$(cat /etc/escapement/store-url) escapement ${args} --json || [ $? -lt 64 ]`,
      ),
    );
  const diagnosed = async (since: Date): Promise<string[]> => {
    const { diagnoses } = await ask(`diagnose --from ${since.toISOString()}`);
    return (diagnoses as Diagnosed[]).map((one) => `${one.job} ${one.class} ${one.cause}`);
  };
  /** Until a diagnosis that `pattern` fits is among those since then; a failure says which there were. */
  const named = async (since: Date, pattern: RegExp) => {
    let last: string[] = [];
    await until(
      async () => {
        last = await diagnosed(since);
        return last.some((one) => pattern.test(one));
      },
      { ...patient, what: String(pattern) },
    ).catch((error) => {
      throw new Error(`${error.message}; diagnosed: ${last.join(", ") || "nothing"}`);
    });
  };
  const inStore = async (statement: string) =>
    on("store-1", `runuser -u postgres -- psql -XAtq -d escapement -c "${statement}"`);
  const storeNow = async () =>
    new Date(Number(await inStore("SELECT extract(epoch FROM clock_timestamp()) * 1000")));
  const tellsOf = (phase: string, rule: string) =>
    receiver.told.filter((one) => one.phase === phase && one.message !== "" && one.rule === rule);
  const isTold = (phase: string, rule: string) =>
    until(() => tellsOf(phase, rule).length > 0, { ...patient, what: `${phase} ${rule}` });

  test(
    "bootstrap ends with a watchman that has the site's watch file, and sees the store's disks",
    async () => {
      receiver = await openReceiver(lab().state.controllerAddress);
      site = pairSite(lab(), join(lab().inventoryFile, ".."), receiver.url);
      const { status, stderr, stdout } = await own.run(["playbook", "run", "bootstrap", "-i", site, "--yes"]);
      expect(status, stdout + stderr).toBe(0);
      // A secret is no part of a profile: it is put there by hand.
      await on(
        "watch-1",
        `umask 027; printf %s ${hookKey} > /etc/escapement/hook.key; chgrp escapement /etc/escapement/hook.key`,
      );
      await on("watch-1", "systemctl is-active escapement-watchman.service");
      const tests = JSON.parse(
        await on(
          "watch-1",
          "runuser -u escapement -- escapement alerts test --watch /etc/escapement/watch.yaml --json",
        ),
      );
      expect(tests.channels).toMatchObject([{ channel: "ops", accepted: true }]);
      await until(async () => (await inStore("SELECT count(*) FROM escapement.store_disk")) !== "0", {
        ...patient,
        what: "the first report of the store's disks",
      });
      isUp = true;
      const { unknown } = await ask("watchman --once --cluster /etc/escapement/cluster.yaml");
      expect(unknown.join()).not.toContain("disks");
    },
    limitMs,
  );

  test(
    "both schedulers down: the alert is there within 1.5 periods and a minute, and ends when they are back",
    async () => {
      expect(isUp).toBe(true);
      await until(
        async () => (await ask("executions --job ops/minute --status success")).executions.length > 0,
        { ...patient, what: "a success" },
      );
      const seen = receiver.told.length;
      await Promise.all(
        ["sched-1", "sched-2"].map((host) => on(host, "systemctl stop escapement-scheduler")),
      );
      const down = await storeNow();
      const mine = () =>
        receiver.told.slice(seen).filter(({ phase, key }) => phase === "open" && key === "cause:no-leader");
      await until(() => mine().length > 0, { ...patient, what: "the alert at the receiver" });
      const boundMs = 1.5 * periodMs + 60_000;
      const arrivedMs = mine()[0]!.atMs - down.getTime();
      const openedMs =
        Number(
          await inStore(
            "SELECT extract(epoch FROM opened_at) * 1000 FROM escapement.alert_outbox WHERE dedup_key = 'cause:no-leader'",
          ),
        ) - down.getTime();
      console.info(
        `alert ${(openedMs / 1000).toFixed(1)} s after both were down, at the receiver after ${(arrivedMs / 1000).toFixed(1)} s; bound ${boundMs / 1000} s`,
      );
      expect(openedMs).toBeLessThan(boundMs);
      expect(arrivedMs).toBeLessThan(boundMs);
      await Promise.all(
        ["sched-1", "sched-2"].map((host) => on(host, "systemctl start escapement-scheduler")),
      );
      await until(
        () =>
          receiver.told
            .slice(seen)
            .some(({ phase, key }) => phase === "resolved" && key === "cause:no-leader"),
        { ...patient, what: "the end of the alert" },
      );
      // What had been planned ahead has run meanwhile.
      expect((await diagnosed(down)).filter((one) => /never-fired/.test(one))).toEqual([]);
    },
    limitMs,
  );

  test(
    "the virtual address on two hosts, and a scheduler's clock that is 2 s off, are told",
    async () => {
      expect(isUp).toBe(true);
      const address = `${lab().state.virtualIp}/24`;
      const both = (command: string) => Promise.all(["sched-1", "sched-2"].map((host) => on(host, command)));
      // Two holders, as when neither hears the other; whoever gives it back gets it again.
      const hold = `ip addr replace ${address} dev eth0`;
      await lab().clock("sched-2", 2);
      await until(
        async () => {
          await both(hold);
          return tellsOf("open", "two-virtual-address-holders").length > 0;
        },
        { ...patient, what: "open two-virtual-address-holders" },
      );
      await isTold("open", "clock-offset");
      expect(tellsOf("open", "clock-offset")[0]!.message).toMatch(/sched-2.*(1\.9|2\.)\d+ s/);
      await both(`ip addr del ${address} dev eth0; systemctl restart keepalived`);
      await lab().clock("sched-2", 0);
      await Promise.all([
        isTold("resolved", "two-virtual-address-holders"),
        isTold("resolved", "clock-offset"),
      ]);
    },
    limitMs,
  );

  test(
    "an executor that was stopped, a user that is not there, a full disk, a store that refuses: each is named",
    async () => {
      expect(isUp).toBe(true);
      const run = (job: string) => ask(`run ${job} --reason test`, "sched-1");
      let since = await storeNow();
      await run("ops/long");
      await until(
        async () => (await ask("executions --job ops/long --status running")).executions.length > 0,
        {
          ...patient,
          what: "the long job to run",
        },
      );
      await on("exec-1", "systemctl stop escapement-executor");
      await named(since, /^ops\/long interrupted executor-stopped$/);

      const users = await on("exec-1", "cat /etc/escapement/job-users");
      await on("exec-1", "usermod -l escapement-gone escapement-job && systemctl start escapement-executor");
      await named(since, /^ops\/long interrupted cannot-start$/);
      await on("exec-1", "usermod -l escapement-job escapement-gone");
      expect(users).toContain("escapement-job");

      since = await storeNow();
      await on("exec-1", "mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs /var/lib/escapement/jobs");
      await named(since, /^ops\/(tick|minute) \S+ cannot-start/);
      await on("exec-1", "umount /var/lib/escapement/jobs");

      since = await storeNow();
      await on("store-1", "systemctl stop postgresql@15-main");
      await isTold("open", "store-unreachable");
      await on("store-1", "systemctl start postgresql@15-main");
      await isTold("resolved", "store-unreachable");
      await named(since, /^ops\/tick never-fired store-outage/);
      receiver.close();
    },
    limitMs,
  );
});
