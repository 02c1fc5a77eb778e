/**
 * The drills of the checklist, and the one that tests the fence, on a cluster of
 * real hosts that works meanwhile: each passes with its proof, and nothing of it
 * is left.
 *
 * By default one of each class, held as long as it takes to be noticed. In their
 * whole length, as they are shipped: ESCAPEMENT_ALL_DRILLS=1 for every variant of
 * every drill (about 45 minutes), ESCAPEMENT_DRILLS=NAME/VARIANT,… for some.
 * ESCAPEMENT_DRILL_TIMETABLE=1: also one that the cluster's own scheduler fires, on
 * the watchman's host; up to three minutes more.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { CheckedSite, wellWatched } from "../checklist/checked-site.ts";
import { type OutsideWorld, openOutsideWorld } from "../checklist/outside-world.ts";
import { OwnCopy } from "../playbook/own-copy.ts";
import { shell } from "../provision/lab-targets.ts";
import { testScreens } from "../ui/screens-robot.ts";
import { DrilledSite } from "./drilled-site.ts";
import type { RunningDrill } from "./running-drill.ts";
import { runOnTimetable } from "./timetable-site.ts";

const one = [
  "pause-executor/pause-executor",
  "kill-executor/kept-down",
  "cut-network/symmetric",
  "stop-primary/crash",
  "skew-clock/scheduler-ahead",
];
const every = [
  ...["pause-executor/pause-executor", "pause-primary/pause-primary"],
  ...["kill-executor/restarted", "kill-executor/kept-down"],
  ...["cut-network/symmetric", "cut-network/receive-only"],
  ...["graceful", "crash", "isolated", "power"].map((name) => `stop-primary/${name}`),
  ...["executor", "scheduler"].flatMap((role) => [`skew-clock/${role}-ahead`, `skew-clock/${role}-behind`]),
  ...["kill-store/restarted", "kill-store/kept-down"],
  ...["fill-disk/fill-disk", "memory-limit/memory-limit"],
  ...["skew-clock-store/ahead", "skew-clock-store/behind"],
];
const named = process.env.ESCAPEMENT_DRILLS?.split(",");
const all = process.env.ESCAPEMENT_ALL_DRILLS === "1";
const wanted = (named ?? (all ? every : one)).map(
  (name) => name.split("/") as [drill: string, variant: string],
);

/** What a cluster in containers cannot pass: docs/checklist.md has the list. The standby is waived. */
const needsMachine: Readonly<Record<number, string>> = { 0: "waived", 9: "unknown" };

describe.skipIf(noHosts)("a cluster of hosts", () => {
  const lab = hostLab();
  const own = new OwnCopy();
  let site: DrilledSite;
  let outside: OutsideWorld | undefined;
  afterAll(() => outside?.close());

  beforeAll(async () => {
    outside = await openOutsideWorld(lab().state.controllerAddress);
    const { url } = outside;
    const change = (inventory: string, folder: string) => wellWatched(folder, inventory, url);
    site = new DrilledSite(lab(), own, { wholeTimes: all || named !== undefined, change });
    await site.bootstrap();
  }, 900_000);

  test.each(wanted)(
    "stands %s, %s",
    async (drill, variant) => {
      if (drill === "fill-disk") await site.smallDisks();
      const startedMs = performance.now();
      const running = site.begin(drill, variant);
      if (variant === "power") await staysOff(running);
      const report = await running.verdict();
      const { verdict, reason, target, measures } = report;
      console.log(
        `${drill}/${variant} on ${target?.host}: ${verdict} in ${Math.round((performance.now() - startedMs) / 1_000)} s: ${reason}; ${JSON.stringify(measures)}`,
      );
      expect(report).toMatchObject({ verdict: "pass", unproven: [], failures: [], unknown: [] });
      expect(report.audits).toEqual([{ host: report.target?.host, residue: [], unseen: [] }]);
      expect(report.evidence.length).toBeGreaterThan(1);
    },
    1_800_000,
  );

  test.skipIf(process.env.ESCAPEMENT_DRILL_TIMETABLE !== "1")(
    "a drill of the timetable is fired once by the cluster's own scheduler, and run on the watchman's host",
    async () => {
      const drill = { drill: "stop-primary", variant: "crash", class: "primary-stopped" };
      const { runs, executions, attempts, report } = await runOnTimetable(lab(), site, drill);
      const job = "drills/stop-primary-crash";
      console.log(`timetable on ${report.target?.host}: ${report.verdict}: ${report.reason}`);
      expect(runs).toEqual([
        expect.objectContaining({
          ...{ drill: "stop-primary/crash", class: "primary-stopped", trigger: "schedule" },
          ...{ person: "escapement-executor", outcome: "pass", reason: report.reason },
        }),
      ]);
      expect(executions).toEqual([expect.objectContaining({ job, trigger: "schedule", status: "success" })]);
      expect(attempts).toEqual([
        expect.objectContaining({ job, attempt: 1, status: "success", node: "watch-1" }),
      ]);
      expect(report).toMatchObject({
        ...{ runId: runs[0]!.runId, verdict: "pass", trigger: "schedule", unproven: [], failures: [] },
        audits: [{ host: report.target?.host, residue: [], unseen: [] }],
      });
      // The controller's own cluster file does not name it.
      expect(report.log.map(({ line }) => line)).not.toContainEqual(
        expect.stringContaining("no virtual address"),
      );
      expect(runs[0]!.targets.map(({ host }) => host)).toEqual([report.target?.host]);
    },
    900_000,
  );

  /** A container is back within seconds; a machine takes longer than the lease of the one who led. */
  async function staysOff(running: RunningDrill): Promise<void> {
    const host = (await running.heard(/^(\S+): armed/))[1]!;
    const process = () =>
      lab()
        .insideHost(host)
        .find((word) => word.startsWith("--target="));
    const before = process();
    await until(() => process() !== before, { what: `the reset of ${host}`, deadlineMs: 120_000 });
    await lab().powerOff(host);
    const leads = "SELECT node FROM escapement.leader WHERE expires_at > clock_timestamp()";
    const psql = `runuser -u postgres -- psql -XAtq -d escapement -c "${leads}"`;
    await until(async () => !["", host].includes(await shell(lab(), "store-1", psql)), {
      what: "another leader",
      deadlineMs: 120_000,
      everyMs: 500,
    });
    await lab().powerOn(host);
  }

  test("drill halt in the middle of one: the host is itself again, and none begins until resume", async () => {
    const running = site.begin("cut-network", "symmetric");
    const host = (await running.heard(/^(\S+): holding/))[1]!;
    const told = ["--cluster", site.clusterFile, "--url", site.storeUrl];
    const halted = JSON.parse(await site.run("drill", "halt", "--json", ...told, ...site.profiles));
    expect(halted.store).toEqual({ recorded: true, error: null });
    expect(halted.hosts).toHaveLength(lab().hosts.length);
    const restored = halted.hosts.filter((told: { halted: boolean }) => told.halted);
    expect(restored).toEqual([expect.objectContaining({ host, error: null })]);
    console.log(`halt: restored in ${restored[0].restoredMs} ms, answered in ${restored[0].tookMs} ms`);
    expect(restored[0].restoredMs).toBeLessThan(2_000);
    const report = await running.verdict();
    expect(report).toMatchObject({ verdict: "unknown", failures: [] });
    expect(report.audits).toEqual([{ host, residue: [], unseen: [] }]);
    const refused = site.begin("cut-network", "symmetric");
    expect(await refused.ended, refused.said()).toBe(4);
    expect(refused.said()).toContain("halted by");
    await site.command("drill", "resume", "--json", "--reason", "seen", "--url", site.storeUrl);
  }, 600_000);

  // With other drills than one of each class the checklist rightly says that some are missing.
  // ESCAPEMENT_CHECKLIST_GATE=1 asks for it: some two minutes more.
  test.skipIf(named !== undefined || process.env.ESCAPEMENT_CHECKLIST_GATE !== "1")(
    "the checklist passes but for what needs a machine with a clock of its own, and its gate says 5",
    async () => {
      const { folder, inventory, clusterFile } = site;
      const checked = new CheckedSite({ lab: lab(), own, folder, inventory, clusterFile });
      await checked.prepare();
      await checked.isWatched();
      const { code, report } = await checked.gate();
      expect(
        report.items.map(({ number, verdict }) => [number, verdict]),
        report.reasons.join("\n"),
      ).toEqual(Array.from({ length: 15 }, (_, number) => [number, needsMachine[number] ?? "pass"]));
      const open = report.items[9]!.results.filter(({ verdict }) => verdict !== "pass");
      expect(open.map(({ scope, message }) => [scope.name, message.slice(0, 9)]).sort()).toEqual(
        lab()
          .hosts.map(({ name }) => [name, "needs-vm:"])
          .sort(),
      );
      expect(code).toBe(5);
    },
    900_000,
  );

  describe("at the screens", () => testScreens(() => ({ lab: lab(), own, site })));
});
