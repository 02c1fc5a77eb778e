/**
 * The drills against a cluster of hosts that lacks a protection: each must fail,
 * under the right name. What is taken away is taken away here, never in the
 * product. The same is shown with local processes, in a few minutes, by
 * test/chaos/drill/sabotage; this takes about 20 and runs only with
 * ESCAPEMENT_ALL_DRILLS=1.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import type { DrillReport } from "../../../src/chaos/drill/drill-report.ts";
import { Database } from "../../../src/store/database.ts";
import { answerNull, patchFunctions, swap } from "../../chaos/drill/sabotage.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { OwnCopy } from "../playbook/own-copy.ts";
import { shell } from "../provision/lab-targets.ts";
import { DrilledSite } from "./drilled-site.ts";
import type { RunningDrill } from "./running-drill.ts";

const asked = process.env.ESCAPEMENT_ALL_DRILLS === "1";

/** Attempts that outlast the lease of their executor, few enough for two executors. */
const slow = { jobs: 2, every: "10s", shards: 1, shardDuration: "25s", obligations: 1 };

describe.skipIf(noHosts || !asked)("a cluster of hosts without a protection", () => {
  const lab = hostLab({ hosts: ["sched-1", "sched-2", "exec-1", "exec-2", "store-1"] });
  const own = new OwnCopy();
  let site: DrilledSite;
  let db: Database;

  beforeAll(async () => {
    site = new DrilledSite(lab(), own, { wholeTimes: false });
    await site.bootstrap();
    db = new Database(site.storeUrl, { applicationName: "sabotage", queryTimeoutMs: 30_000 });
    // Whoever runs into a wall shall still be judged.
    change("stop-primary", { abort: { otherHostUnhealthy: false } });
    change("pause-executor", { abort: { otherHostUnhealthy: false }, load: slow });
  }, 900_000);
  afterAll(async () => {
    await db?.end();
  });

  function change(drill: string, spec: Record<string, unknown>): void {
    const file = join(site.drills, `${drill}.yaml`);
    const document = parse(readFileSync(file, "utf8"));
    writeFileSync(file, stringify({ ...document, spec: { ...document.spec, ...spec } }));
  }

  const store = () =>
    shell(
      lab(),
      "store-1",
      "runuser -u postgres -- psql -XAtq -d escapement -c \"SELECT count(*) FROM escapement.scheduler WHERE role = 'standby'\"",
    );
  const standby = () =>
    until(async () => Number(await store()) > 0, { what: "a standby", deadlineMs: 120_000, everyMs: 500 });

  /** Runs a drill; `meanwhile` is called when the host has its order. @returns the classes of what was found */
  async function found(
    drill: string,
    variant: string,
    meanwhile?: (running: RunningDrill, target: string) => Promise<void>,
  ): Promise<string[]> {
    await standby();
    const running = site.begin(drill, variant);
    if (meanwhile) await meanwhile(running, (await running.heard(/^(\S+): armed/))[1]!);
    const { verdict, reason, judged, failures }: DrillReport = await running.verdict();
    console.log(`${drill}/${variant}: ${verdict}: ${reason}`);
    expect(verdict, reason).toBe("fail");
    const counts = Object.entries(judged?.counts ?? {}).filter(([, count]) => count > 0);
    return [...counts.map(([name]) => name), ...failures.map((one) => one.class)];
  }

  test("no lease expiry: shards of a dead executor stay with it", async () => {
    const heal = await patchFunctions(db, { reap: answerNull, take_over: answerNull });
    try {
      expect(await found("kill-executor", "kept-down")).toContain("takeover-late");
    } finally {
      await heal();
    }
  }, 900_000);

  test("no fence: a former holder ends the shard of its successor", async () => {
    const heal = await patchFunctions(db, {
      complete: swap(
        " AND l.owner = p_incarnation AND l.fence_token = a.token AND (v_leased OR l.continue_fenced)",
        "",
      ),
    });
    try {
      expect(await found("pause-executor", "pause-executor")).toContain("orphan");
    } finally {
      await heal();
    }
  }, 900_000);

  test("no standby: nobody takes over", async () => {
    let stopped = "";
    const classes = await found("stop-primary", "crash", async (_, target) => {
      stopped = target === "sched-1" ? "sched-2" : "sched-1";
      await shell(
        lab(),
        stopped,
        "systemctl kill --signal=KILL escapement-scheduler; systemctl stop escapement-scheduler",
      );
    });
    await shell(
      lab(),
      stopped,
      "systemctl reset-failed escapement-scheduler || :; systemctl start escapement-scheduler",
    );
    expect(classes).toContain("takeover-late");
  }, 900_000);

  test("an executor that goes on after losing its lease runs beside its successor", async () => {
    const supervisors = (signal: string) => `pkill -${signal} -f '[e]xecutor-supervisor'`;
    let host = "";
    const classes = await found("pause-executor", "pause-executor", async (_, target) => {
      host = target;
      await shell(lab(), target, supervisors("STOP"));
    });
    await shell(lab(), host, `${supervisors("CONT")} || :`);
    expect(classes).toContain("overlap");
  }, 900_000);
});
