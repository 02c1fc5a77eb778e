/**
 * The drills of the checklist, and the one that tests the fence, on a cluster of
 * real hosts that works meanwhile: each passes with its proof, and nothing of it
 * is left.
 *
 * ESCAPEMENT_DRILLS=NAME/VARIANT,…: these in place of one of each class.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { OwnCopy } from "../playbook/own-copy.ts";
import { DrilledSite } from "./drilled-site.ts";

const wanted = (
  process.env.ESCAPEMENT_DRILLS ??
  "pause-executor/pause-executor,kill-executor/kept-down,cut-network/symmetric,stop-primary/crash,skew-clock/scheduler-ahead"
)
  .split(",")
  .map((name) => name.split("/") as [drill: string, variant: string]);

describe.skipIf(noHosts)("a cluster of hosts", () => {
  const lab = hostLab();
  const own = new OwnCopy();
  let site: DrilledSite;

  beforeAll(async () => {
    site = new DrilledSite(lab(), own);
    await site.bootstrap();
  }, 900_000);

  test.each(wanted)(
    "stands %s, %s",
    async (drill, variant) => {
      const report = await site.drill(drill, variant);
      expect(report).toMatchObject({ verdict: "pass", unproven: [], failures: [], unknown: [] });
      expect(report.audits).toEqual([{ host: report.target?.host, residue: [], unseen: [] }]);
      expect(report.evidence.length).toBeGreaterThan(1);
    },
    600_000,
  );
});
