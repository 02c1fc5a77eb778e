import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileSchedule } from "../../src/schedule/compile.ts";
import { parseCron } from "../../src/schedule/cron-expression.ts";

const cases: { refused: [string, string][]; never: string[]; accepted: [string, string][] } = JSON.parse(
  readFileSync(new URL("../cases/schedule/cron-syntax.json", import.meta.url), "utf8"),
);

function errorOf(text: string): { code: string; message: string } {
  try {
    parseCron(text);
  } catch (error) {
    return error as { code: string; message: string };
  }
  return { code: "accepted", message: "" };
}

describe("parseCron", () => {
  it.each(cases.refused)("refuses %j", (text, reason) => {
    const error = errorOf(text);
    expect(error.code).toBe("E_CRON_SYNTAX");
    expect(error.message).toContain(reason);
  });

  it.each(cases.never)("%j never fires", (text) => {
    expect(errorOf(text)).toMatchObject({ code: "E_CRON_NEVER", message: expect.stringContaining(text) });
  });

  it.each(cases.accepted)("%j is %j", (text, same) => {
    const from = Date.UTC(2026, 0);
    const fires = (cron: string) =>
      compileSchedule({ cron, zone: "UTC" }).between(from, from + 800 * 86_400_000, 400);
    expect(fires(text).length).toBeGreaterThan(0);
    expect(fires(text)).toEqual(fires(same));
  });

  it("tells fixed times of the day from wildcards", () => {
    const wildcard = [
      "* * * * *",
      "0 * * * *",
      "30 1-2 * * *",
      "0/30 1 * * *",
      "*/30 0 1 * * *",
      "0 0,12-14 * * *",
    ];
    const fixed = ["0 0 * * *", "0,30 1,2 * * *", "15 30 1 1/2 1-12 0/1", "@daily", "0 0 */2 * MON-FRI"];
    expect(wildcard.filter((text) => !parseCron(text).wildcard)).toEqual([]);
    expect(fixed.filter((text) => parseCron(text).wildcard)).toEqual([]);
  });
});
