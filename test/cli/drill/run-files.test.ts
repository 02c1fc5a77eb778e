/** Where report and history go: tried before a drill, and an error of its own after one, with the verdict told. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { DrillResult } from "../../../src/chaos/drill/drill-report.ts";
import { requireRunsFolder } from "../../../src/cli/drill/run-files.ts";
import { tellResult } from "../../../src/cli/drill/tell-result.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "drill-files-"));
  writeFileSync(join(folder, "file"), "");
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

describe("before a drill", () => {
  it("makes the folder, and leaves nothing in it", async () => {
    const wanted = join(folder, "a", "b");
    await requireRunsFolder("inventory.yaml", wanted);
    expect(readdirSync(wanted)).toEqual([]);
  });

  it("without --out beside the inventory", async () => {
    await requireRunsFolder(join(folder, "inventory.yaml"), undefined);
    expect(existsSync(join(folder, ".escapement", "drills"))).toBe(true);
  });

  it.each([["/proc/x"], ["file"]])("%s cannot be written", async (name) => {
    const wanted = name.startsWith("/") ? name : join(folder, name);
    await expect(requireRunsFolder("inventory.yaml", wanted)).rejects.toMatchObject({
      code: "E_BAD_DATA",
      exitCode: 65,
      message: expect.stringContaining(`cannot be written to ${wanted}: `),
      hint: expect.stringContaining("--out"),
    });
  });
});

describe("after a drill", () => {
  const result = {
    report: {
      ...{ runId: "0b9d8a52", drill: "kill-executor", variant: "restarted", verdict: "fail" },
      ...{ reason: "2 lost", startedAt: "2026-01-01T00:00:00Z", endedAt: "2026-01-01T00:01:00Z" },
      ...{ clocks: [], events: [], evidence: [], faultAt: null, restoredAt: null, target: null, order: null },
    },
    history: null,
  } as unknown as DrillResult;

  it.each([[false], [true]])("a folder that cannot be written any more, --json: %s", async (json) => {
    let told = "";
    vi.spyOn(process.stdout, "write").mockImplementation((text) => {
      told += text;
      return true;
    });
    await expect(tellResult(result, join(folder, "file", "run"), { json })).rejects.toMatchObject({
      code: "E_DRILL_UNWRITTEN",
      exitCode: 69,
      hint: expect.stringContaining("escapement drill history 0b9d8a52"),
    });
    if (json)
      expect(JSON.parse(told)).toMatchObject({
        event: "verdict",
        verdict: "fail",
        reason: "2 lost",
        files: [],
      });
    else expect(told).toContain("fail  kill-executor/restarted: 2 lost");
  });
});
