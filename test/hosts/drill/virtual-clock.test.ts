/**
 * The clock drill on a host with a kernel and a clock of its own, and with a
 * chronyd that steers it: what no container can show.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DrillKey, makeDrillKey } from "../../../src/chaos/host/drill-key.ts";
import type { SshDrillHost } from "../../../src/chaos/host/ssh-drill-host.ts";
import { whyNoMachines } from "../../../src/lab/vm/accelerator.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { unavailable } from "../../support/tier.ts";
import { until } from "../../support/until.ts";
import { shell } from "../provision/lab-targets.ts";
import { drillHost, everything, stageDrills } from "./staged-host.ts";

const name = "exec-1";
/** An emulated machine on a busy host answers slowly; what is measured is far bigger. */
const tolerableMs = 3_000;

const reason = whyNoMachines();
const noMachines = unavailable(`virtual machines (${reason})`, reason === undefined);

describe.skipIf(noHosts || noMachines)("a real clock", () => {
  const lab = hostLab({ hosts: [name], virtual: [name] });
  const folder = mkdtempSync(join(tmpdir(), "escapement-drill-"));
  let key: DrillKey;
  let host: SshDrillHost;
  const sh = (line: string) => shell(lab(), name, line);
  /** What this machine, a second place, reads off the host's clock: its offset in milliseconds. */
  const offsetMs = async () => {
    const before = Date.now();
    const { stdout } = await lab().exec(name, ["date", "+%s%3N"]);
    return Number(stdout) - (before + Date.now()) / 2;
  };

  beforeAll(async () => {
    key = await makeDrillKey(join(folder, "key"));
    await stageDrills(
      lab(),
      name,
      key,
      everything.filter((line) => !line.startsWith("clock-file")),
    );
    const sources = lab().state.timeSources.map((address) => `server ${address} iburst minpoll 2 maxpoll 4`);
    await sh(`command -v chronyd >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -q chrony >/dev/null 2>&1
      printf '%s\\n' ${sources.map((line) => `'${line}'`).join(" ")} 'makestep 1 3' 'maxslewrate 500' 'driftfile /var/lib/chrony/drift' > /etc/chrony/chrony.conf
      systemctl enable -q chrony; systemctl restart chrony`);
    await until(
      async () => (await lab().exec(name, ["chronyc", "waitsync", "1", "0.5", "0", "1"])).code === 0,
      {
        what: "chronyd to follow the lab's time",
        deadlineMs: 180_000,
      },
    );
    host = await drillHost(lab(), name, key);
  });
  afterAll(async () => {
    await host?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function begin(offsetSeconds: number, holdSeconds: number): Promise<string> {
    const { bootId, can, timeDaemon } = await host.look([]);
    expect(can.clock).toBe(true);
    expect(timeDaemon).toMatchObject({ running: true });
    const run = randomUUID();
    await host.begin({
      ...{ run, host: name, bootId, fault: "clock", offsetSeconds, holdSeconds },
      limitSeconds: holdSeconds + 30,
    });
    return run;
  }
  const eventsOf = (run: string) =>
    until(
      async () => {
        const { state, events } = await host.progress(run);
        return state === "ended" ? events : undefined;
      },
      { what: `end of run ${run}`, deadlineMs: 180_000 },
    );

  test.each([300, -300])("%i s away, seen from here, and back with chronyd at work", async (seconds) => {
    const run = await begin(seconds, 15);
    const seen = await until(
      async () => {
        const offset = await offsetMs();
        return Math.abs(offset - seconds * 1_000) < tolerableMs ? offset : undefined;
      },
      { what: "the clock to be away", deadlineMs: 60_000 },
    );
    expect(seen / seconds).toBeGreaterThan(0);
    const events = await eventsOf(run);
    expect(events.find(({ event }) => event === "proof")?.detail).toMatchObject({ method: "kernel" });
    expect(Math.abs(await offsetMs())).toBeLessThan(tolerableMs);
    const { residue, unseen } = await host.audit();
    expect(residue.filter((one) => !isOfEmulation(one))).toEqual([]);
    expect(unseen).toEqual([]);
    expect(await sh("systemctl is-active chrony; systemctl is-enabled chrony")).toBe("active\nenabled");
  });

  test("every process of the drill killed: the clock is back within the limit", async () => {
    await begin(300, 20);
    await until(async () => (await offsetMs()) > 290_000, {
      what: "the clock to be away",
      deadlineMs: 60_000,
    });
    await sh("pkill -KILL -f [e]scapement-drill || :");
    await until(async () => Math.abs(await offsetMs()) < tolerableMs, {
      what: "the clock to be right",
      deadlineMs: 90_000,
    });
    await until(async () => (await host.audit()).residue.every(isOfEmulation), {
      what: "nothing to be left",
      deadlineMs: 60_000,
    });
    expect(await sh("systemctl is-active chrony")).toBe("active");
  });
});

/** An emulated machine that waits for a processor loses a part of a second, and whoever looks at its clock must know. */
function isOfEmulation({ what, detail }: { readonly what: string; readonly detail: string }): boolean {
  return what === "clock" && /^is -?\d{1,3} ms from /.test(detail);
}
