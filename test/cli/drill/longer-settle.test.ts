/** A cluster may be given more time to come to rest than its drill says, never less. */
import { describe, expect, it } from "vitest";
import { drillTimes, leaseTimes } from "../../../src/chaos/plan/drill-times.ts";
import { chooseDrill, readDrills } from "../../../src/cli/drill/drill-files.ts";
import { requireTimeToSettle, withLongerSettle } from "../../../src/cli/drill/longer-settle.ts";

const leases = leaseTimes({
  executor: { leaseMs: 15_000 },
  scheduler: { leaseMs: 15_000, maxSleepMs: 1_000 },
});

describe("--settle", async () => {
  const drill = chooseDrill(await readDrills({}), "kill-executor");
  const settleMs = ({ definition }: typeof drill) =>
    drillTimes(definition.variants[0]!, definition.settle, leases).settleMs;

  it("is waited for, and makes it another drill", () => {
    const longer = withLongerSettle(drill, 120_000);
    expect(settleMs(drill)).toBe(30_000);
    expect(settleMs(longer)).toBe(120_000);
    expect(longer.digest).not.toBe(drill.digest);
    expect(withLongerSettle(drill, undefined)).toBe(drill);
    expect(withLongerSettle(drill, 30_000).digest).toBe(drill.digest);
  });

  it.each([0, 29_999, 1_800_000])("of %s ms is refused", (ms) => {
    expect(() => withLongerSettle(drill, ms)).toThrow(expect.objectContaining({ code: "E_BAD_VALUE" }));
  });

  it.each([
    ["29m58s", 1_798_000, "E_BAD_VALUE"],
    ["29m51s", 1_791_000, undefined],
  ])("of %s: is there time for it?", async (_, ms, code) => {
    const longer = withLongerSettle(drill, ms);
    const asked = requireTimeToSettle(longer, longer.definition.variants, leases, ms);
    if (code === undefined) await asked;
    else await expect(asked).rejects.toMatchObject({ code, exitCode: 64 });
  });

  it("a file that leaves no time for it is bad data", async () => {
    const longer = withLongerSettle(drill, 1_798_000);
    const asked = requireTimeToSettle(longer, longer.definition.variants, leases);
    await expect(asked).rejects.toMatchObject({ code: "E_BAD_DATA", exitCode: 65 });
  });
});
