/** What counts as left behind, and what is still on its way out. */
import { expect, test } from "vitest";
import { auditTarget } from "../../../src/chaos/drill/audit-target.ts";
import { WatchedHost } from "../../../src/chaos/drill/watched-host.ts";
import type { ResidueAudit } from "../../../src/chaos/host/drill-host.ts";
import { PretendDrillHost } from "./pretend-drill-host.ts";

const ending = { what: "unit", detail: "escapement-drill-1.service deactivating" };
const table = { what: "nft-table", detail: "inet escapement_drill" };
const clean: ResidueAudit = { residue: [], unseen: [] };

/** A host whose audits are these, one after the other, and the last again and again. */
function host(...audits: readonly (ResidueAudit | Error)[]) {
  let asked = 0;
  class Audited extends PretendDrillHost {
    override async audit(): Promise<ResidueAudit> {
      const audit = audits[Math.min(asked++, audits.length - 1)]!;
      if (audit instanceof Error) throw audit;
      return audit;
    }
  }
  const inventory = { name: "exec-1" } as ConstructorParameters<typeof WatchedHost>[0];
  return { watched: new WatchedHost(inventory, new Audited("exec-1")), asked: () => asked };
}

test.each([
  ["nothing", [clean], 1, clean],
  ["a unit that is about to end", [{ residue: [ending], unseen: [] }, clean], 2, clean],
  ["a host that answers at last", [new Error("no route"), clean], 2, clean],
  ["a table, which ends by itself never", [{ residue: [ending, table], unseen: [] }], 1, undefined],
])("%s", async (_, audits, asked, expected = audits[0]) => {
  const { watched, asked: times } = host(...audits);
  expect(await auditTarget(watched, false)).toEqual({ host: "exec-1", ...expected });
  expect(times()).toBe(asked);
});

test("a unit that never ends is left behind", async () => {
  const { watched, asked } = host({ residue: [ending], unseen: [] });
  expect(await auditTarget(watched, false)).toEqual({ host: "exec-1", residue: [ending], unseen: [] });
  expect(asked()).toBe(5);
}, 60_000);
