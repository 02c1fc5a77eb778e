/** The last words of attempts, from the log that an executor keeps. */
import { expect, test } from "vitest";
import type { FireAttempt } from "../../../src/store/diagnose/fire-rows.ts";
import { causeOfAttempt } from "../../../src/watchman/diagnose/attempt-cause.ts";
import { parseLastWords } from "../../../src/watchman/diagnose/job-log.ts";

const fire = "2026-07-01T02:00:00.000Z";
const line = (attempt: number, stream: string, text: string) =>
  `2026-07-01T02:00:01.812Z ${fire} shard=3 attempt=${attempt} ${stream} | ${text}`;

const attempt = (change: Partial<FireAttempt>): FireAttempt =>
  ({
    ...{ shardNo: 3, attempt: 1, outcome: "failed", node: "exec-1", exitCode: 1, error: "exit code 1" },
    ...{ startedAt: new Date(fire), endedAt: new Date(fire), rows: null },
    ...change,
  }) as FireAttempt;

const log = [
  "of the middle of a line that was cut off",
  line(1, "out", "lock timeout is what standard output may talk about"),
  line(1, "err", "ERROR:  canceling statement due to lock timeout"),
  line(1, "err", "CONTEXT:  while updating tuple (0,1) in relation payout"),
  line(2, "err", "no such supplier"),
].join("\n");

test("standard error alone counts, each attempt by itself, oldest first", () => {
  expect(parseLastWords(`${log}\n`)).toEqual([
    {
      fireTime: new Date(fire),
      shardNo: 3,
      attempt: 1,
      lines: [
        "ERROR:  canceling statement due to lock timeout",
        "CONTEXT:  while updating tuple (0,1) in relation payout",
      ],
    },
    { fireTime: new Date(fire), shardNo: 3, attempt: 2, lines: ["no such supplier"] },
  ]);
});

test("a line that is endless, and endless lines, are cut", () => {
  const [words] = parseLastWords(
    Array.from({ length: 99 }, (_, i) => line(1, "err", `${i} ${"x".repeat(999)}`)).join("\n"),
  );
  expect(words!.lines).toHaveLength(20);
  expect(words!.lines.at(-1)).toMatch(/^98 x{297}$/);
});

test("a lock that the job ran into is found in its words; what it said else is shown", () => {
  const lastWords = parseLastWords(log);
  const of = (change: Partial<FireAttempt>) => causeOfAttempt(attempt(change), { kills: [], lastWords });
  const [first, second, other] = [of({}), of({ attempt: 2 }), of({ shardNo: 4 })];
  expect([first.cause, second.cause, other.cause]).toEqual(["lock-wait", "job-error", "job-error"]);
  expect(first.evidence.at(-1)).toEqual({
    from: "job log",
    row: { line: "ERROR:  canceling statement due to lock timeout" },
  });
  expect(second.because).toContain("its last words: no such supplier");
  expect(other.because).toMatch(/exit code 1$/);
});
