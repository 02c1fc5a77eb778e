import { describe, expect, test } from "vitest";
import { parseKeys } from "../../src/executor/freeze.ts";
import { type EndQuestion, judgeEnd, oneLine, retryDelayMs } from "../../src/executor/outcome.ts";

const question: EndQuestion = {
  ended: { code: 0, signal: null, cause: null, error: null },
  intent: undefined,
  tries: 1,
  maxTries: 3,
  retry: { maxAttempts: 3, delaysMs: [60_000, 300_000] },
  timeoutMs: 90_000,
};
const failed = { code: 1, signal: null, cause: null, error: null };
const killed = { code: null, signal: "SIGKILL" as const, error: null };

const cases: [name: string, change: Partial<EndQuestion>, outcome: string, error: string | null][] = [
  ["exit 0", {}, "success", null],
  ["exit 0 on the last try", { tries: 3 }, "success", null],
  ["exit 1", { ended: failed }, "retry", "exit code 1"],
  ["exit 1 on the last try", { ended: failed, tries: 3 }, "failed", "exit code 1"],
  ["exit 75", { ended: { ...failed, code: 75 } }, "retry", "exit code 75: temporary failure"],
  [
    "exit 75 on the last try",
    { ended: { ...failed, code: 75 }, tries: 3 },
    "failed",
    "exit code 75: temporary failure",
  ],
  ["a signal", { ended: { ...killed, cause: null } }, "retry", "killed by SIGKILL"],
  [
    "not started",
    { ended: { code: null, signal: null, cause: null, error: "spawn x ENOENT" } },
    "retry",
    "cannot be started: spawn x ENOENT",
  ],
  [
    "timeout",
    { ended: { ...killed, cause: "timeout" } },
    "retry",
    "timed out after 1m30s; killed by SIGKILL",
  ],
  [
    "timeout, then exit 0",
    { ended: { ...question.ended, cause: "timeout" } },
    "retry",
    "timed out after 1m30s; exit code 0",
  ],
  [
    "deadline",
    { ended: { ...killed, cause: "deadline" } },
    "retry",
    "killed: the lease could not be renewed in time",
  ],
  [
    "lease lost",
    { ended: { ...killed, cause: "kill" }, intent: "lease-lost" },
    "retry",
    "killed: the lease could not be renewed in time",
  ],
  ["lease lost, but ended before", { intent: "lease-lost" }, "success", null],
  [
    "supervisor lost",
    { ended: { ...killed, cause: null }, intent: "supervisor-lost" },
    "retry",
    "killed: the supervisor of its executor died",
  ],
  [
    "cancelled",
    { ended: { ...killed, signal: "SIGTERM", cause: "stop" }, intent: "cancel" },
    "cancelled",
    "cancelled; killed by SIGTERM",
  ],
  [
    "cancelled, then exit 0",
    { ended: { ...question.ended, cause: "stop" }, intent: "cancel" },
    "cancelled",
    "cancelled; exit code 0",
  ],
  ["cancelled, but ended before", { intent: "cancel" }, "success", null],
  [
    "drained",
    { ended: { ...killed, signal: "SIGTERM", cause: "stop" }, intent: "drain" },
    "interrupted",
    "executor stopped; killed by SIGTERM",
  ],
  [
    "drained on the last try",
    { ended: { ...killed, cause: "stop" }, intent: "drain", tries: 3 },
    "interrupted",
    "executor stopped; killed by SIGKILL",
  ],
  ["drained, then exit 0", { ended: { ...question.ended, cause: "stop" }, intent: "drain" }, "success", null],
];

describe("judgeEnd", () => {
  test.each(cases)("%s", (_name, change, outcome, error) => {
    expect(judgeEnd({ ...question, ...change })).toMatchObject({ outcome, error });
  });

  test("only a retry waits, by the delay that follows its try; the last one repeats", () => {
    const delay = (tries: number) => judgeEnd({ ...question, ended: failed, maxTries: 5, tries }).delayMs;
    expect([1, 2, 3, 4, 5].map(delay)).toEqual([60_000, 300_000, 300_000, 300_000, 0]);
    expect(retryDelayMs({ maxAttempts: 3, delaysMs: [] }, 2)).toBe(0);
  });
});

test("an error is one line, without zero bytes, and not endless", () => {
  expect(oneLine(" a\0b\n\tc ")).toBe("a b c");
  expect(oneLine("x".repeat(10_000))).toHaveLength(500);
});

test.each([
  ["a\nb\r\n\na\nlast", { keys: ["a", "b", "last"] }],
  ["", { keys: [] }],
  ["ok\na\0b", { error: "line 2 contains a NUL character" }],
  ["ü".repeat(501), { error: "line 1 is longer than 1000 bytes" }],
  [undefined, { error: "printed more than 64 MiB" }],
])("keys of a freezing step: %j", (output, expected) => {
  expect(parseKeys(output)).toEqual(expected);
});
