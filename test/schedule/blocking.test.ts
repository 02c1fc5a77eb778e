import { describe, expect, it } from "vitest";
import {
  type BlockingQuestion,
  decideBlocking,
  type UnfinishedExecution,
} from "../../src/schedule/blocking.ts";

const at = (hour: number) => Date.UTC(2026, 6, 1, hour);
const open = (hour: number): UnfinishedExecution => ({ fireMs: at(hour), state: "open" });
const held = (hour: number): UnfinishedExecution => ({ fireMs: at(hour), state: "held" });

interface Case {
  name: string;
  question: Omit<BlockingQuestion, "fireMs"> & { fireMs?: number };
  answer: unknown;
}

const cases: Case[] = [
  { name: "queue, nothing open", question: { policy: "queue", open: [] }, answer: { action: "open" } },
  { name: "forbid, nothing open", question: { policy: "forbid", open: [] }, answer: { action: "open" } },
  { name: "replace, nothing open", question: { policy: "replace", open: [] }, answer: { action: "open" } },
  {
    name: "allow, two open",
    question: { policy: "allow", open: [open(1), open(2)] },
    answer: { action: "open" },
  },
  {
    name: "queue waits for the one just before it",
    question: { policy: "queue", open: [held(3), open(1), held(2)] },
    answer: { action: "hold", behindMs: at(3) },
  },
  {
    name: "queue with room for one more",
    question: { policy: "queue", maxQueued: 2, open: [open(1), held(2)] },
    answer: { action: "hold", behindMs: at(2) },
  },
  {
    name: "queue that is full",
    question: { policy: "queue", maxQueued: 1, open: [open(1), held(2)] },
    answer: {
      action: "blocked",
      reason:
        "2 executions have not finished, the oldest of 2026-07-01T01:00:00.000Z; the queue holds 1 of at most 1",
    },
  },
  {
    name: "queue of length zero is forbid while something runs",
    question: { policy: "queue", maxQueued: 0, open: [open(1)] },
    answer: {
      action: "blocked",
      reason: "the execution of 2026-07-01T01:00:00.000Z has not finished; the queue holds 0 of at most 0",
    },
  },
  {
    name: "queue: an older fire waits only for what runs, not for newer ones that wait",
    question: { policy: "queue", open: [open(6), held(7)] },
    answer: { action: "hold", behindMs: at(6) },
  },
  {
    name: "queue: an older fire passes newer ones that wait",
    question: { policy: "queue", maxQueued: 1, open: [held(7)] },
    answer: { action: "open" },
  },
  {
    name: "forbid names the oldest",
    question: { policy: "forbid", open: [open(2), open(1)] },
    answer: {
      action: "blocked",
      reason:
        "2 executions have not finished, the oldest of 2026-07-01T01:00:00.000Z; the blocking policy is forbid",
    },
  },
  {
    name: "replace cancels all older ones, ascending",
    question: { policy: "replace", open: [held(3), open(1)] },
    answer: { action: "replace", cancel: [at(1), at(3)] },
  },
  {
    name: "replace never cancels a newer one",
    question: { policy: "replace", open: [open(1), open(6)] },
    answer: {
      action: "blocked",
      reason:
        "the execution of 2026-07-01T06:00:00.000Z has not finished, newer than this one; replace cancels only older ones",
    },
  },
];

describe("decideBlocking", () => {
  it.each(cases)("$name", ({ question, answer }) => {
    expect(decideBlocking({ fireMs: at(5), ...question })).toEqual(answer);
  });
});
