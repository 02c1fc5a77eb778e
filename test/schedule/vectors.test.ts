/**
 * Public daylight-saving vectors. The file lies beside the project where it is present at all; without it
 * the test is skipped and says so.
 */
import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { compileSchedule } from "../../src/schedule/compile.ts";

interface Vector {
  expression: string;
  zone: string;
  from: string;
  expected: string;
  inclusive: boolean;
}

const file = new URL("../../../shared/vectors/cron-dst.json", import.meta.url);
const present = existsSync(file);
const vectors: Vector[] = present ? JSON.parse(readFileSync(file, "utf8")).vectors : [];

/** Milliseconds, rounded up where the text is finer: asked from a moment later, the next millisecond is the first. */
function instant(text: string): number {
  const match = /^(\S+) (\d\d:\d\d)(:\d\d)?(\.\d+)? ([+-]\d\d:\d\d)$/.exec(text)!;
  const fraction = Math.ceil(Number(match[4] ?? 0) * 1000);
  return Date.parse(`${match[1]}T${match[2]}${match[3] ?? ":00"}${match[5]}`) + fraction;
}

it.skipIf(!present)(
  `all public vectors are right${present ? ` (${vectors.length})` : ": SKIPPED, no vector file beside the project"}`,
  () => {
    expect(vectors.length).toBeGreaterThan(60);
    const wrong = vectors.flatMap((vector) => {
      const schedule = compileSchedule({ cron: vector.expression, zone: vector.zone });
      const from = instant(vector.from);
      const answer = schedule.next(vector.inclusive ? from - 1 : from);
      if (answer === instant(vector.expected) && schedule.matches(answer)) return [];
      return [{ ...vector, answer: answer === null ? null : new Date(answer).toISOString() }];
    });
    expect(wrong).toEqual([]);
  },
);
