/** SIGKILL at every place where it could hurt: before and after each journal write and each deed. */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Journal } from "../../../src/provision/playbook/journal.ts";
import { allOn, threeSteps } from "./bench.ts";

const folder = mkdtempSync(join(tmpdir(), "escapement-killed-"));
const program = join(folder, "run.mjs");

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL("killed-run.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    loader: { ".sql": "text" },
    external: ["pg-native"],
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function paths(name: string) {
  return { journal: join(folder, `${name}.jsonl`), world: join(folder, `${name}.json`) };
}

test("killed anywhere, the next run ends it, and nothing settled is done again", () => {
  let at = 1;
  let deaths = 0;
  for (; ; at++) {
    const { journal, world } = paths(String(at));
    const first = spawnSync(process.execPath, [program, threeSteps, journal, world, String(at)], {
      encoding: "utf8",
    });
    if (first.signal !== "SIGKILL") {
      expect(first.status, first.stderr).toBe(0);
      break;
    }
    deaths += 1;
    const second = execFileSync(process.execPath, [program, threeSteps, journal, world], {
      encoding: "utf8",
    });
    expect(JSON.parse(second).outcome, `killed at ${at}`).toBe("done");
    const { on, deeds } = JSON.parse(readFileSync(world, "utf8")) as { on: string[]; deeds: string[] };
    expect(on, `killed at ${at}`).toEqual(allOn);
    // A guard sees what was done without being entered; only the last step has none.
    const twice = deeds.filter((deed, i) => deeds.indexOf(deed) !== i);
    expect(
      twice.every((deed) => deed === "on sched-1/c"),
      `killed at ${at}: ${twice}`,
    ).toBe(true);
    const lines = readFileSync(journal, "utf8").trim().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as { run: string; event: string });
    // Killed after its last word, it is over, and the second run is another one.
    const ends = entries.filter((entry) => entry.event === "end" && entry.run === entries[0]?.run);
    expect(ends, `killed at ${at}`).toHaveLength(6);
  }
  // 1 begin, 6 × (act, end), 1 finish: each before and after; and each of six deeds before and after.
  expect(deaths).toBe(2 * 14 + 2 * 6);
}, 300_000);

test("a line that was cut short was never said, and the next line does not stick to it", () => {
  const file = join(folder, "torn.jsonl");
  const journal = new Journal(file);
  journal.append({ run: "r", event: "begin", playbook: "p", digest: "d", targets: [] });
  journal.close();
  appendFileSync(file, '{"at":"2026');
  const torn = new Journal(file);
  expect(torn.entries).toHaveLength(1);
  torn.append({ run: "r", event: "finish", outcome: "done" });
  torn.close();
  expect(new Journal(file).entries.map((entry) => entry.event)).toEqual(["begin", "finish"]);
  appendFileSync(file, "nonsense\n");
  expect(() => new Journal(file)).toThrow(/torn.jsonl:3 is not an entry/);
  expect(() => new Journal(folder)).toThrow(/cannot read /);
});
