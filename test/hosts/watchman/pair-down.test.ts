/**
 * A cluster of five hosts, bootstrapped with its watch file and the key that it
 * names: both schedulers go down, and the alert arrives in time; then one fault
 * after the other is planted, and watchman and diagnosis name each. With
 * ESCAPEMENT_PLANTED=1 the failures that need no fault of a host are planted, too,
 * side by side while nobody leads, so that every class and cause is seen here.
 *
 * Not here, but on a real store in test/watchman/diagnose: `deploy-overlap` (no
 * executor of ours writes after it has given back, so the write must be forged),
 * `replaced` before a start, and the certain kind of `oom-kill` (a container has
 * no kernel log of its own to bring).
 */
import { join } from "node:path";
import { describe, expect, onTestFailed, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { OwnCopy } from "../playbook/own-copy.ts";
import { ClusterConsole, patient } from "./cluster-console.ts";
import { ledgerUrl, openReceiver, pairSite } from "./pair-site.ts";
import {
  endPlanted,
  plantWithLeader,
  plantWithoutLeader,
  unnamedAfterwards,
  unnamedWithoutLeader,
} from "./planted-failures.ts";
import { rowTakenAway } from "./planted-jobs.ts";

const plantsAll = process.env.ESCAPEMENT_PLANTED === "1";
const limitMs = plantsAll ? 1_800_000 : 600_000;
const periodMs = 60_000;

describe.skipIf(noHosts)("a scheduler pair, and a watchman apart from it", () => {
  const lab = hostLab({ hosts: ["sched-1", "sched-2", "exec-1", "store-1", "watch-1"] });
  const own = new OwnCopy();
  let receiver: Awaited<ReturnType<typeof openReceiver>>;
  let site = "";
  /** Without a whole cluster the rest can only wait for nothing. */
  let isUp = false;

  const cluster = new ClusterConsole(lab);
  const on = cluster.on.bind(cluster);
  const ask = cluster.ask.bind(cluster);
  const tellsOf = (phase: string, rule: string) =>
    receiver.told.filter((one) => one.phase === phase && one.message !== "" && one.rule === rule);
  /** What a test that failed has left: the next one begins with a whole cluster. */
  const repair = async () => {
    if (!isUp) return;
    await Promise.allSettled([
      on("store-1", "systemctl stop ledger-lock forgotten; systemctl start postgresql@15-main"),
      lab().clock("sched-2", 0),
      ...["sched-1", "sched-2"].map((host) =>
        on(
          host,
          `ip addr del ${lab().state.virtualIp}/24 dev eth0
          systemctl restart keepalived; systemctl start escapement-scheduler`,
        ),
      ),
      on(
        "exec-1",
        `systemctl kill --kill-whom=main -s CONT escapement-executor; umount /var/lib/escapement/jobs
        usermod -l escapement-job escapement-gone; systemctl start escapement-executor`,
      ),
    ]);
    if (plantsAll) await endPlanted(cluster).catch(() => undefined);
  };
  const isTold = (phase: string, rule: string) =>
    until(() => tellsOf(phase, rule).length > 0, { ...patient, what: `${phase} ${rule}` });

  test(
    "bootstrap ends with a watchman that has the site's watch file, and sees the store's disks",
    async () => {
      receiver = await openReceiver(lab().state.controllerAddress);
      site = pairSite(lab(), join(lab().inventoryFile, ".."), receiver.url);
      const { status, stderr, stdout } = await own.run(["playbook", "run", "bootstrap", "-i", site, "--yes"]);
      expect(status, stdout + stderr).toBe(0);
      await on("watch-1", "systemctl is-active escapement-watchman.service");
      const tests = JSON.parse(
        await on(
          "watch-1",
          "runuser -u escapement -- escapement alerts test --watch /etc/escapement/watch.yaml --json",
        ),
      );
      expect(tests.channels).toMatchObject([{ channel: "ops", accepted: true }]);
      await until(async () => (await cluster.sql("SELECT count(*) FROM escapement.store_disk")) !== "0", {
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
    "both schedulers down: the alert is there in 1.5 periods and a minute; what goes wrong beside it is named",
    async () => {
      expect(isUp).toBe(true);
      onTestFailed(repair, limitMs);
      await until(
        async () => (await ask("executions --job ops/minute --status success")).executions.length > 0,
        { ...patient, what: "a success" },
      );
      const since = await cluster.storeNow();
      const ledger = ledgerUrl(lab().state);
      const planted = plantsAll ? await plantWithLeader(cluster, ledger) : null;
      const seen = receiver.told.length;
      await Promise.all(
        ["sched-1", "sched-2"].map((host) => on(host, "systemctl stop escapement-scheduler")),
      );
      const down = await cluster.storeNow();
      if (planted) await plantWithoutLeader(cluster);
      const mine = () =>
        receiver.told.slice(seen).filter(({ phase, key }) => phase === "open" && key === "cause:no-leader");
      await until(() => mine().length > 0, { ...patient, what: "the alert at the receiver" });
      const boundMs = 1.5 * periodMs + 60_000;
      const arrivedMs = mine()[0]!.atMs - down.getTime();
      const openedMs =
        Number(
          await cluster.sql(
            "SELECT extract(epoch FROM opened_at) * 1000 FROM escapement.alert_outbox WHERE dedup_key = 'cause:no-leader'",
          ),
        ) - down.getTime();
      console.info(
        `alert ${(openedMs / 1000).toFixed(1)} s after both were down, at the receiver after ${(arrivedMs / 1000).toFixed(1)} s; bound ${boundMs / 1000} s`,
      );
      expect(openedMs).toBeLessThan(boundMs);
      expect(arrivedMs).toBeLessThan(boundMs);

      // Executors go on meanwhile: what jobs do wrong is seen without a leader.
      const wrong = planted ? await unnamedWithoutLeader(cluster, since, ledger, planted) : [];
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
      expect((await cluster.diagnosed(down)).filter((one) => /^ops\/minute never-fired/.test(one))).toEqual(
        [],
      );
      if (planted) wrong.push(...(await unnamedAfterwards(cluster, down)));
      expect(wrong).toEqual([]);
    },
    limitMs,
  );

  test(
    "the virtual address on two hosts, and a scheduler's clock that is 2 s off, are told",
    async () => {
      expect(isUp).toBe(true);
      onTestFailed(repair, limitMs);
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
      // On a slow machine other hosts may be told of, too: their measurements take long.
      const isOff = ({ message }: { message: string }) => /sched-2.*(1\.9|2\.)\d* s/.test(message);
      await until(() => tellsOf("open", "clock-offset").some(isOff), {
        ...patient,
        what: "clock-offset of sched-2",
      });
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
    "an executor frozen, stopped, without a user, with a full disk, a row taken away: each is named",
    async () => {
      expect(isUp).toBe(true);
      onTestFailed(repair, limitMs);
      const named = (pattern: RegExp) => cluster.named(since, [pattern]);
      const works = () =>
        until(async () => (await on("exec-1", "pgrep -fx 'sleep 300' || :")) !== "", {
          ...patient,
          what: "the long job's work to have begun",
        });
      let since = await cluster.storeNow();
      await ask("run ops/long --reason test", "sched-1");
      await works();
      await on("exec-1", "systemctl kill --kill-whom=main -s STOP escapement-executor");
      await named(/^ops\/long interrupted lease-lost$/);
      await named(/^ops\/tick never-fired no-executor$/);
      await on("exec-1", "systemctl kill --kill-whom=main -s CONT escapement-executor");
      await named(/^ops\/long duplicate lease-lost$/);
      await works();
      await on("exec-1", "systemctl stop escapement-executor");
      await named(/^ops\/long interrupted executor-stopped$/);

      await on("exec-1", "usermod -l escapement-gone escapement-job && systemctl start escapement-executor");
      await named(/^ops\/long interrupted cannot-start$/);
      await on("exec-1", "usermod -l escapement-job escapement-gone");

      since = await cluster.storeNow();
      await on("exec-1", "mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs /var/lib/escapement/jobs");
      await named(/^ops\/(tick|minute) \S+ cannot-start/);
      await on("exec-1", "umount /var/lib/escapement/jobs");

      since = new Date((await cluster.storeNow()).getTime() - 600_000);
      await cluster.sql(rowTakenAway);
      await named(/^ops\/tick never-fired record-missing$/);
    },
    limitMs,
  );

  test(
    "a store that refuses, and one whose clock jumps: each is named",
    async () => {
      expect(isUp).toBe(true);
      let since = await cluster.storeNow();
      await on("store-1", "systemctl stop postgresql@15-main");
      await isTold("open", "store-unreachable");
      await on("store-1", "systemctl start postgresql@15-main");
      await isTold("resolved", "store-unreachable");
      await cluster.named(since, [/^ops\/tick never-fired store-outage/]);

      // Last: the clock of the records never goes back.
      since = await cluster.storeNow();
      await lab().clock("store-1", 90);
      await cluster.named(since, [/^ops\/tick never-fired clock-step$/]);
      receiver.close();
    },
    limitMs,
  );
});
