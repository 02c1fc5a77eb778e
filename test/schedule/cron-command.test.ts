import { afterEach, describe, expect, it, vi } from "vitest";
import { build } from "../../src/cli/cron.ts";

afterEach(() => vi.restoreAllMocks());

async function run(...args: string[]): Promise<{ out: string; talk: string }> {
  const written = { out: "", talk: "" };
  const capture = (stream: "out" | "talk") => (text: unknown) => {
    written[stream] += String(text);
    return true;
  };
  vi.spyOn(process.stdout, "write").mockImplementation(capture("out") as typeof process.stdout.write);
  vi.spyOn(process.stderr, "write").mockImplementation(capture("talk") as typeof process.stderr.write);
  const command = build().exitOverride();
  for (const child of command.commands) child.exitOverride();
  try {
    await command.parseAsync(args, { from: "user" });
  } finally {
    vi.restoreAllMocks();
  }
  return written;
}

const spring = ["next", "30 2 * * *", "--zone", "Europe/Berlin", "--from", "2026-03-28T02:00:00Z"];

describe("cron next", () => {
  it("prints UTC, local time with offset, and what was moved", async () => {
    const { out, talk } = await run(...spring, "--count", "2");
    expect(out.split("\n").slice(1)).toEqual([
      "2026-03-29T01:00:00.000Z  2026-03-29T03:00:00+02:00  moved: 02:30 is skipped by the clock",
      "2026-03-30T00:30:00.000Z  2026-03-30T02:30:00+02:00  -",
      "",
    ]);
    expect(talk).toContain(
      "after 2026-03-28T02:00:00.000Z; gap run-at-transition, overlap first; time-zone data 20",
    );
  });

  it("obeys the policies, and says all of it to machines", async () => {
    const answer = JSON.parse(
      (await run(...spring, "--count", "1", "--gap", "skip", "--overlap", "both", "--json")).out,
    );
    expect(answer).toEqual({
      schemaVersion: 1,
      expression: "30 2 * * *",
      zone: "Europe/Berlin",
      tzdata: process.versions.tz,
      gap: "skip",
      overlap: "both",
      from: "2026-03-28T02:00:00.000Z",
      fires: [{ fireTime: "2026-03-30T00:30:00.000Z", local: "2026-03-30T02:30:00+02:00", note: null }],
    });
  });

  it("takes intervals", async () => {
    const { out } = await run(
      "next",
      "every 15m",
      "--zone",
      "UTC",
      "--from",
      "2026-07-01T00:07:00Z",
      "--count",
      "2",
      "--json",
    );
    expect(JSON.parse(out).fires.map((fire: { fireTime: string }) => fire.fireTime)).toEqual([
      "2026-07-01T00:15:00.000Z",
      "2026-07-01T00:30:00.000Z",
    ]);
  });

  it("starts from now when not told, and says so", async () => {
    const before = Date.now();
    const { out, talk } = await run("next", "* * * * *", "--zone", "UTC", "--count", "1");
    expect(talk).toContain("(now, by this machine's clock)");
    const fire = Date.parse(out.split("\n")[1]!.split(" ")[0]!);
    expect(fire).toBeGreaterThan(before);
    expect(fire).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  it("says when there are no more", async () => {
    const { out, talk } = await run("next", "@yearly", "--zone", "UTC", "--from", "2198-07-01T00:00:00Z");
    expect(out.trim().split("\n").length).toBe(2);
    expect(talk).toContain("no more fires before the year 2200");
  });

  it.each([
    [["next", "* * * *", "--zone", "UTC"], "E_CRON_SYNTAX"],
    [["next", "", "--zone", "UTC"], "E_CRON_SYNTAX"],
    [["next", "every", "--zone", "UTC"], "E_CRON_SYNTAX"],
    [["next", "every 5", "--zone", "UTC"], "E_CRON_SYNTAX"],
    [["next", "0 0 30 2 *", "--zone", "UTC"], "E_CRON_NEVER"],
    [["next", "* * * * *", "--zone", "Berlin"], "E_ZONE_UNKNOWN"],
    [["next", "* * * * *"], "commander.missingMandatoryOptionValue"],
    [["next", "* * * * *", "--zone", "UTC", "--from", "2026-07-01"], "commander.invalidArgument"],
    [["next", "* * * * *", "--zone", "UTC", "--gap", "shift"], "commander.invalidArgument"],
    [["next", "* * * * *", "--zone", "UTC", "--count", "0"], "commander.invalidArgument"],
    [["explain", "61 * * * *"], "E_CRON_SYNTAX"],
  ])("%j ends with %s", async (args, code) => {
    await expect(run(...args)).rejects.toMatchObject({ code });
  });
});

describe("cron explain", () => {
  it("prints a sentence and warnings", async () => {
    const { out, talk } = await run("explain", "0 0 13 * FRI");
    expect(out).toBe(
      "At 00:00, on day 13 of the month, if that is also Friday.\n" +
        "warning both day fields are set: a day must match both; many other cron programs fire when either does\n",
    );
    expect(talk).toContain("name a --zone");
  });

  it("looks at the clock changes of a zone", async () => {
    const { out } = await run(
      "explain",
      "30 2 * * *",
      "--zone",
      "Europe/Berlin",
      "--from",
      "2026-01-01T00:00:00Z",
      "--json",
    );
    const { text, warnings } = JSON.parse(out);
    expect(text).toBe("At 02:30 every day, by the clock of Europe/Berlin.");
    expect(warnings.map((warning: { code: string }) => warning.code)).toEqual([
      "dst-gap",
      "dst-overlap",
      "dst-gap",
      "dst-overlap",
    ]);
  });
});
