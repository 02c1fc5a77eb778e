/**
 * Drills whose every part is killed at any moment: the controller's connection,
 * the run, a dead-man, all of ours once, all of ours again and again. Whatever
 * was killed, the host is itself again one second after the limit. First the
 * controller goes at each stage of each fault that a shipped drill asks for;
 * then chance decides.
 *
 * ESCAPEMENT_DRILL_INTERRUPTIONS: how many (default 210). ESCAPEMENT_DRILL_SEED: which.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DrillEvent, DrillOrder } from "../../../src/chaos/host/drill-host.ts";
import { type DrillKey, makeDrillKey } from "../../../src/chaos/host/drill-key.ts";
import { readEvent } from "../../../src/chaos/host/read-answer.ts";
import type { SshDrillHost } from "../../../src/chaos/host/ssh-drill-host.ts";
import { seedFrom } from "../../chaos/seeded-random.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { shell } from "../provision/lab-targets.ts";
import { type Interruption, interruption, planned } from "./interruptions.ts";
import { drillHost, everything, prepareVictim, stageDrills, victim } from "./staged-host.ts";

const names = ["exec-1", "exec-2", "exec-3", "exec-4"];
const count = Number(process.env.ESCAPEMENT_DRILL_INTERRUPTIONS ?? 210);
const seed = seedFrom("ESCAPEMENT_DRILL_SEED");
/** What a restore may take once the limit is over. */
const graceMs = 1_000;

/** Whatever stands in a process list for a drill of ours; the pattern does not match itself. */
const everythingOfOurs = "[e]scapement-drill[-/]|[e]scapement/drill";
const killAll = (pattern: string) =>
  `ps -eo pid,cgroup:200,args | grep -E '${pattern}' | awk '{ print $1 }' | xargs -r kill -KILL 2>/dev/null || :`;

/** Prints what of ours is there: processes and units, and not the shell that asks. */
const nothingOfOurs = `ps -eo cgroup:200,args | grep -E '${everythingOfOurs}' || :
  systemctl list-units --plain --no-legend 'escapement-dril[l]-*' | grep -v cleanup || :`;

/** True where a fault is in effect, by a look at the host itself. */
const inEffect = `
  nft list tables | grep -q escapement_drill && echo cut
  grep -qx +0 /var/lib/lab/clock || echo clock
  [ ! -e /srv/fill/.escapement-drill-fill ] || echo fill-disk
  [ "$(systemctl show -p MemoryMax --value ${victim})" = infinity ] || echo memory-limit
  case $(systemctl is-active ${victim}) in active) ;; *) echo down ;; esac
  [ "$(ps -o stat= -p $(systemctl show -p MainPID --value ${victim}) | cut -c 1)" != T ] || echo pause
  ls /run/systemd/system/${victim}.d 2>/dev/null
  :`;

describe.skipIf(noHosts)("drills whose every part is killed", () => {
  const lab = hostLab({ hosts: names });
  const folder = mkdtempSync(join(tmpdir(), "escapement-drill-"));
  let key: DrillKey;
  const hosts = new Map<string, SshDrillHost>();
  const restoredBy = new Map<string, number>();

  beforeAll(async () => {
    key = await makeDrillKey(join(folder, "key"));
    await Promise.all(
      names.map(async (name) => {
        await stageDrills(lab(), name, key, everything);
        await prepareVictim(lab(), name);
        hosts.set(name, await drillHost(lab(), name, key));
      }),
    );
  });
  afterAll(async () => {
    for (const host of hosts.values()) await host.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The host's record of a run, read past the host: asking it costs it more than its drill. */
  function eventsOf(name: string, run: string): readonly DrillEvent[] {
    // The second place is what a reboot leaves.
    for (const place of ["run/escapement-drill", "var/lib/escapement/drill/runs"])
      try {
        const leader = lab()
          .insideHost(name)
          .find((word) => word.startsWith("--target="))!
          .slice("--target=".length);
        return readFileSync(join("/proc", leader, "root", place, run, "events"), "utf8")
          .split("\n")
          .flatMap((line) => readEvent(line) ?? []);
      } catch {
        // Not there yet, or the host is off.
      }
    return [];
  }

  async function kill(
    name: string,
    run: string,
    { killed }: Interruption,
    deadlineMs: number,
  ): Promise<void> {
    const host = hosts.get(name)!;
    if (killed === "connection") return host.close();
    const pattern = {
      run: `${run}\\.service`,
      keeper: `${run}-keeper\\.service`,
      "run and keeper": `${run}(-keeper)?\\.service`,
      everything: everythingOfOurs,
      "everything, again and again": everythingOfOurs,
    }[killed];
    const again = killed === "everything, again and again";
    do {
      await shell(lab(), name, killAll(pattern));
      if (again) await pause(100);
    } while (again && performance.now() < deadlineMs);
  }

  /** @returns how late the host was after the limit, milliseconds; undefined where nothing was ever injected */
  async function interrupt(name: string, one: Interruption): Promise<number | undefined> {
    const host = hosts.get(name)!;
    const run = randomUUID();
    const { bootId } = await host.look([]);
    const isReset = one.fault.fault === "power";
    const limitSeconds = isReset ? 120 : 3;
    const order: DrillOrder = { ...one.fault, run, host: name, bootId, holdSeconds: 1, limitSeconds };
    const startedMs = performance.now();
    let begun: boolean | undefined;
    const begin = host.begin(order).then(
      () => {
        begun = true;
      },
      () => {
        begun = false;
      },
    );
    const has = (event: DrillEvent["event"]) => eventsOf(name, run).some((each) => each.event === event);
    if (one.stage !== "begin")
      await until(() => has(one.stage as DrillEvent["event"]) || has("ended") || begun === false, {
        what: `${one.stage} of ${run}`,
        deadlineMs: 60_000,
        everyMs: 10,
      });
    await pause(one.afterMs);
    await kill(name, run, one, startedMs + 3_500);
    await begin;
    // A lost connection says nothing: the host may still be reading the order, or have begun. Killed
    // before it was armed, nothing was injected, and the dead-men that were set go at their time.
    await until(
      async () => has("ended") || (begun === false && (await shell(lab(), name, nothingOfOurs)) === ""),
      {
        what: `end of ${run}`,
        deadlineMs: 60_000,
        everyMs: 50,
      },
    );
    if (isReset) {
      await host.close();
      await until(async () => (await shell(lab(), name, inEffect)) === "", {
        what: `${name} to be up again`,
        deadlineMs: 120_000,
      });
      await until(() => host.look([]), { what: `${name} to answer`, deadlineMs: 60_000 });
    }
    expect(await shell(lab(), name, inEffect), "in effect").toBe("");
    expect(await host.audit()).toEqual({ residue: [], unseen: [] });
    const events = eventsOf(name, run);
    if (events.length === 0) return undefined;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    const times = (event: DrillEvent["event"]) => events.filter((each) => each.event === event).length;
    for (const once of ["restored", "audit", "ended"] as const) expect(times(once), once).toBe(1);
    expect(times("injected")).toBeLessThanOrEqual(times("armed"));
    expect(events.at(-1)!.detail).toEqual(isReset ? { residue: 0, rebooted: true } : { residue: 0 });
    const restored = events.find(({ event }) => event === "restored")!;
    expect(restored.detail.lifted).toBe(true);
    if (restored.detail.injected === false) return undefined;
    const by = String(restored.detail.by);
    restoredBy.set(by, (restoredBy.get(by) ?? 0) + 1);
    return restored.bootMs - Number(events[0]!.detail.deadlineBootMs);
  }

  test(
    `${count} interruptions, ESCAPEMENT_DRILL_SEED=${seed}`,
    async () => {
      let next = 0;
      const late: number[] = [];
      const by = new Map<string, number>();
      const failures: string[] = [];
      await Promise.all(
        names.map(async (name) => {
          while (next < count) {
            const one = interruption(next++, seed);
            const described = `interruption ${one.number} on ${name}: ${JSON.stringify(one)}`;
            try {
              const overMs = await interrupt(name, one);
              if (overMs === undefined) continue;
              late.push(overMs);
              by.set(one.killed, (by.get(one.killed) ?? 0) + 1);
              // A machine with more to do than processors is slower by that.
              const allowedMs = graceMs * Math.max(1, loadavg()[0]! / cpus().length);
              if (overMs > allowedMs) failures.push(`${described}: ${overMs} ms after the limit`);
            } catch (error) {
              failures.push(`${described}: ${error instanceof Error ? error.message : String(error)}`);
              await hosts
                .get(name)!
                .halt()
                .catch(() => {});
            }
          }
        }),
      );
      late.sort((a, b) => a - b);
      console.log(
        `ESCAPEMENT_DRILL_SEED=${seed}: ${count} interruptions (${Math.min(count, planned.length)} by plan), ${late.length} of injected faults (${[...by].map(([what, n]) => `${what}: ${n}`).join(", ")}); restored at most ${late.at(-1)} ms after the limit, ${late.filter((ms) => ms > 0).length} after it, by ${[...restoredBy].map(([who, n]) => `${who} ${n}`).join(", ")}; load ${loadavg()[0]!.toFixed(1)}`,
      );
      expect(failures).toEqual([]);
    },
    20_000 + count * 10_000,
  );
});
