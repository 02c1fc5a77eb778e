/**
 * Whole drills on a cluster with an executor that is a virtual machine: a clock
 * of its own with a chronyd that steers it, a disk of its own, and a kernel that
 * ends processes when memory runs out.
 *
 * Where machines are emulated this takes half an hour, so it runs only with
 * ESCAPEMENT_VM_DRILLS=1; ESCAPEMENT_DRILLS=NAME/VARIANT,… names some of them.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { whyNoMachines } from "../../../src/lab/vm/accelerator.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { unavailable } from "../../support/tier.ts";
import { until } from "../../support/until.ts";
import { OwnCopy } from "../playbook/own-copy.ts";
import { shell } from "../provision/lab-targets.ts";
import { DrilledSite } from "./drilled-site.ts";

const virtual = "exec-1";
const asked = process.env.ESCAPEMENT_VM_DRILLS === "1";
const reason = asked ? whyNoMachines() : undefined;
const noMachines = asked && unavailable(`needs-vm: virtual machines (${reason})`, reason === undefined);
const wanted = (
  process.env.ESCAPEMENT_DRILLS ??
  "skew-clock/executor-ahead,skew-clock/executor-behind,memory-limit/memory-limit,fill-disk/fill-disk"
)
  .split(",")
  .map((name) => name.split("/") as [drill: string, variant: string]);

describe.skipIf(!asked || noHosts || noMachines)("a cluster with a virtual machine", () => {
  const lab = hostLab({
    hosts: ["sched-1", "sched-2", virtual, "exec-2", "store-1"],
    virtual: [virtual],
    prepared: true,
  });
  const own = new OwnCopy();
  let site: DrilledSite;

  beforeAll(async () => {
    site = new DrilledSite(lab(), own, { wholeTimes: true });
    const startedMs = performance.now();
    await site.bootstrap();
    await until(
      async () => (await lab().exec(virtual, ["chronyc", "waitsync", "1", "0.1", "0", "1"])).code === 0,
      { what: "chronyd of the machine to follow the lab's time", deadlineMs: 300_000 },
    );
    console.log(`bootstrapped in ${Math.round((performance.now() - startedMs) / 1_000)} s`);
  }, 1_800_000);

  test.each(wanted)(
    "stands %s, %s",
    async (drill, variant) => {
      expect(await shell(lab(), virtual, "systemctl is-active chrony")).toBe("active");
      const startedMs = performance.now();
      const report = await site.drill(drill, variant, "--host", virtual);
      console.log(
        `${drill}/${variant}: ${report.verdict} in ${Math.round((performance.now() - startedMs) / 1_000)} s: ${report.reason}; ${JSON.stringify(report.evidence)}`,
      );
      expect(report).toMatchObject({ verdict: "pass", unproven: [], failures: [], unknown: [] });
      expect(report.audits).toEqual([{ host: virtual, residue: [], unseen: [] }]);
      if (drill === "skew-clock") {
        // The kernel's own clock, not a file that stands for one.
        const own = report.evidence.find(({ see, from }) => see === "clock-offset" && from === "target");
        expect(own?.detail).toContain("method kernel");
        expect(report.measures.culprits).toEqual([virtual]);
      }
      expect(await shell(lab(), virtual, "systemctl is-active chrony")).toBe("active");
    },
    1_800_000,
  );
});
