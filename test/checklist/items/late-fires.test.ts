/** A gap on trial: what is asked of the scheduler's rule, and that a rule which does something else is found. */
import { describe, expect, test } from "vitest";
import { type Decide, type LateRule, lateFires } from "../../../src/checklist/items/late-fires.ts";
import { decideMisfires } from "../../../src/schedule/misfire.ts";

const minuteMs = 60_000;
const caught = (maxFires: number, keep: "oldest" | "newest" = "oldest") => ({ maxFires, keep });
const rules = {
  now: { misfire: { policy: "run-now", thresholdMs: minuteMs }, catchUp: caught(2) },
  newest: { misfire: { policy: "run-now", thresholdMs: minuteMs }, catchUp: caught(2, "newest") },
  none: { misfire: { policy: "run-now", thresholdMs: minuteMs }, catchUp: caught(0) },
  skip: { misfire: { policy: "skip", thresholdMs: minuteMs }, catchUp: caught(2) },
  window: {
    misfire: { policy: "within-window", thresholdMs: minuteMs, windowMs: 10 * minuteMs },
    catchUp: caught(1),
  },
  narrow: {
    misfire: { policy: "within-window", thresholdMs: minuteMs, windowMs: minuteMs },
    catchUp: caught(1),
  },
} satisfies Record<string, LateRule>;

/** The rule with one thing wrong. */
const broken: Record<string, Decide> = {
  "runs what is skipped": (question) => decideMisfires({ ...question, policy: "run-now" }),
  "skips everything": (question) => decideMisfires({ ...question, policy: "skip" }),
  "knows no cap": (question) => decideMisfires({ ...question, catchUp: caught(100) }),
  "keeps the other end": (question) => {
    const { maxFires, keep } = question.catchUp;
    return decideMisfires({
      ...question,
      catchUp: caught(maxFires, keep === "oldest" ? "newest" : "oldest"),
    });
  },
  "knows no window": (question) => decideMisfires({ ...question, windowMs: Number.POSITIVE_INFINITY }),
  "calls too early what is late": (question) =>
    decideMisfires({ ...question, thresholdMs: question.thresholdMs - 1 }),
  "says nothing": () => [],
};

describe("the rule itself", () => {
  test.each([
    ["now", ["run", "run", "missed", "run"]],
    ["newest", ["missed", "run", "run", "run"]],
    ["none", ["missed", "run"]],
    ["skip", ["missed", "missed", "missed", "run"]],
    ["window", ["missed", "run", "missed", "run"]],
    ["narrow", ["missed", "missed", "missed", "run"]],
  ] as const)("%s", (name, decisions) => {
    const found = lateFires(rules[name]);
    expect(found.contradiction).toBeUndefined();
    expect(found.lines.map((line) => line.split(":", 1)[0])).toEqual(decisions);
  });
});

describe("a rule that", () => {
  test.each([
    ["runs what is skipped", "skip", /skip, and a fire that is 1m0?.* late would be run/],
    ["skips everything", "now", /run-now, and a fire that is 1m.* late would be missed/],
    ["knows no cap", "now", /would be run/],
    ["keeps the other end", "now", /would be missed/],
    ["keeps the other end", "newest", /would be run/],
    ["knows no window", "window", /within-window, and a fire that is 10m1s late would be run/],
    ["calls too early what is late", "skip", /a fire that is 1m late would be missed/],
    ["says nothing", "now", /would be missed/],
  ] as const)("%s is found, with policy %s", (how, name, message) => {
    expect(lateFires(rules[name], broken[how]).contradiction).toMatch(message);
  });
});
