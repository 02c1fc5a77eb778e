/** Items 11 and 12: what drills have shown. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { executorDrill } from "../../../src/checklist/items/11-executor-drill.ts";
import { faultDrills } from "../../../src/checklist/items/12-fault-drills.ts";
import { drillCommand } from "../../../src/checklist/items/drill-passes.ts";
import { requireDrill } from "../../../src/cli/drill/drill-files.ts";
import { mandatoryDrillClasses } from "../../../src/spec/drill-definition.ts";
import { Database } from "../../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../../support/database.ts";
import { contextOf, fillStore } from "../good-cluster.ts";

let fresh: FreshDatabase;
let db: Database;

beforeAll(async () => {
  fresh = await freshDatabase({ migrated: true });
  db = new Database(fresh.url, { maxConnections: 1 });
  await fillStore(db);
  await db.query("CREATE TABLE kept AS SELECT * FROM escapement.drill_run");
});

beforeEach(async () => {
  await db.query("DELETE FROM escapement.drill_run");
  await db.query("INSERT INTO escapement.drill_run SELECT * FROM kept");
});

afterAll(async () => {
  await db.end();
  await fresh.drop();
});

async function both() {
  const context = contextOf(db);
  const [eleven, twelve] = [(await executorDrill.check(context))[0]!, (await faultDrills.check(context))[0]!];
  return { eleven, twelve, verdicts: [eleven.verdict, twelve.verdict] };
}

const clone = (change: string, drillClass: string) =>
  `INSERT INTO escapement.drill_run SELECT (jsonb_populate_record(d, to_jsonb(d) || jsonb_build_object('run_id', gen_random_uuid(), ${change}))).*
   FROM escapement.drill_run d WHERE class = '${drillClass}'`;

describe("items 11 and 12", () => {
  it("pass, with the runs and their age as evidence", async () => {
    const { eleven, twelve, verdicts } = await both();
    expect(verdicts).toEqual(["pass", "pass"]);
    expect(eleven.evidence.map(({ kind }) => kind)).toEqual(["query", "drill"]);
    expect(eleven.evidence[1]!.ageMs).toBeGreaterThan(86_400_000);
    expect(twelve.evidence.filter(({ kind }) => kind === "drill")).toHaveLength(4);
  });

  it.each([
    [
      "a failed run after the last pass",
      clone("'verdict', 'fail', 'ended_at', clock_timestamp()", "executor-killed"),
      ["fail", "pass"],
    ],
    [
      "a failed run before the last pass",
      clone("'verdict', 'fail', 'ended_at', clock_timestamp() - interval '3 days'", "executor-killed"),
      ["pass", "pass"],
    ],
    [
      "a later run that could not tell",
      clone("'verdict', 'unknown', 'ended_at', clock_timestamp()", "executor-killed"),
      ["pass", "pass"],
    ],
    [
      "a failed run of another class after its last pass",
      clone("'verdict', 'fail', 'ended_at', clock_timestamp()", "network-cut"),
      ["pass", "fail"],
    ],
    [
      "an old pass of another class",
      "UPDATE escapement.drill_run SET ended_at = ended_at - interval '50 days' WHERE class = 'network-cut'",
      ["pass", "fail"],
    ],
    [
      "an old pass of executor-killed",
      "UPDATE escapement.drill_run SET ended_at = ended_at - interval '50 days' WHERE class = 'executor-killed'",
      ["fail", "fail"],
    ],
    [
      "a class that was never tried",
      "DELETE FROM escapement.drill_run WHERE class = 'clock-skewed'",
      ["pass", "fail"],
    ],
    [
      "a pass without a fault",
      "UPDATE escapement.drill_run SET fault_at = NULL WHERE class = 'primary-stopped'",
      ["pass", "fail"],
    ],
    [
      "a pass without a target",
      "UPDATE escapement.drill_run SET targets = '[]' WHERE class = 'primary-stopped'",
      ["pass", "fail"],
    ],
    [
      "a pass of tomorrow",
      "UPDATE escapement.drill_run SET ended_at = clock_timestamp() + interval '1 day' WHERE class = 'network-cut'",
      ["pass", "fail"],
    ],
  ])("%s", async (_, sql, expected) => {
    await db.query(sql);
    const { eleven, twelve, verdicts } = await both();
    expect(verdicts, `${eleven.message} / ${twelve.message}`).toEqual(expected);
    for (const one of [eleven, twelve]) expect(one.todo !== undefined).toBe(one.verdict === "fail");
  });

  it("name the drills, not the classes, with all that is to be typed", async () => {
    await db.query("DELETE FROM escapement.drill_run");
    const { eleven, twelve } = await both();
    const drills = {
      "kill-executor": "executor-killed",
      "cut-network": "network-cut",
      "skew-clock": "clock-skewed",
      "stop-primary --variant crash": "primary-stopped",
    };
    const command = (drill: string) =>
      `escapement drill run ${drill} -i inventory.yaml --cluster cluster.yaml --yes`;
    expect(eleven.todo).toBe(command("kill-executor"));
    expect(twelve.todo).toBe(Object.keys(drills).map(command).join("; "));
    for (const [words, drillClass] of Object.entries(drills)) {
      const text = readFileSync(join("chaos", `${words.split(" ")[0]}.yaml`), "utf8");
      expect(text).toContain(`class: ${drillClass}\n`);
    }
  });

  it("name only what the profiles that come with the program allow", async () => {
    const { faults } = parse(readFileSync("profiles/base.yaml", "utf8")).spec.drills;
    for (const name of mandatoryDrillClasses) {
      const [, drill, variant] = /run (\S+)(?: --variant (\S+))? -i/.exec(drillCommand(name))!;
      const { definition } = await requireDrill(drill!, {});
      const kinds = definition.variants
        .filter((one) => variant === undefined || one.name === variant)
        .map(({ fault }) => fault.kind);
      expect(kinds.length).toBeGreaterThan(0);
      expect(faults).toEqual(expect.arrayContaining(kinds));
    }
  });

  it("are unknown without a store", async () => {
    for (const item of [executorDrill, faultDrills])
      expect(await item.check(contextOf("gone"))).toMatchObject([
        { verdict: "unknown", message: expect.stringMatching(/gone/) },
      ]);
  });
});
