/**
 * A thousand days of twenty jobs in four zones, five and a half clock changes
 * each, with outages, skewed hosts, restarts, pauses, edits, late runs and
 * planted silences. At every look the watchman must say what is true, and
 * nothing else; what is true comes from the planted facts, by a calendar and
 * rules of the simulation's own.
 */
import { expect, test } from "vitest";
import type { Finding } from "../../src/watchman/finding.ts";
import { FireAudit } from "../../src/watchman/fire-audit.ts";
import { judge } from "../../src/watchman/judge.ts";
import { defaultWatchSettings } from "../../src/watchman/settings.ts";
import { day, type History, makeHistory, minute, second } from "./simulation/history.ts";
import { Projector } from "./simulation/projector.ts";
import { Random } from "./simulation/random.ts";
import { type Truth, truthsOf } from "./simulation/truth.ts";

const start = Date.UTC(2025, 0, 6);
const days = Number(process.env.SIMULATION_DAYS ?? 1000);
const seed = Number(process.env.SIMULATION_SEED ?? Math.floor(Math.random() * 1e9));
/** Looks and facts closer than this to each other are not held against anybody. */
const edge = 1.5 * second;

const settings = {
  ...defaultWatchSettings,
  schedulerNodes: ["sched-a", "sched-b"],
  executorNodes: ["exec-1"],
};

/** Every hour or so, and every minute where something happens. */
function looks(random: Random, history: History): number[] {
  const at = new Set<number>();
  for (let t = history.from + day; t < history.to; t += random.between(20, 70) * minute)
    at.add(Math.floor(t));
  for (const { from, to } of history.interesting)
    for (let t = from; t < to; t += minute)
      if (t > history.from + day && t < history.to) at.add(Math.floor(t));
  return [...at].sort((a, b) => a - b);
}

function subject(finding: Finding): number | string | null {
  if (finding.jobId !== undefined) return finding.jobId;
  const { node } = finding.evidence as { node?: string };
  return node ?? null;
}

const id = (rule: string, about: number | string | null) => `${rule}|${about}`;

test(`a thousand days without a false alert and without a missed one (seed ${seed})`, {
  timeout: 300_000,
}, async () => {
  const random = new Random(seed);
  const history = makeHistory(random, start, days);
  const truths = truthsOf(history).filter(({ to }) => to > history.from + 2 * day);
  const byId = new Map<string, Truth[]>();
  for (const truth of truths.sort((a, b) => a.from - b.from)) {
    const key = id(truth.rule, truth.about);
    byId.set(key, [...(byId.get(key) ?? []), truth]);
  }
  const projector = new Projector(history);
  let audit = new FireAudit();
  const restarts = [...history.watchmanRestarts];
  const seen = new Set<Truth>();
  const wrong: string[] = [];
  let said = 0;
  const passes = looks(random, history);
  for (const t of passes) {
    if (restarts[0] !== undefined && restarts[0] <= t) {
      restarts.shift();
      audit = new FireAudit();
    }
    const jobs = projector.jobsAt(t);
    const absent = await audit.check(jobs, t, (fires) => projector.absent(t, fires));
    const findings = judge(projector.pictureAt(t, jobs, absent), settings);
    said += findings.length;
    const present = new Map(findings.map((finding) => [id(finding.rule, subject(finding)), finding]));
    for (const [key, finding] of present) {
      const right = byId.get(key)?.filter(({ from, to }) => t >= from - edge && t <= to + edge) ?? [];
      if (right.length === 0) wrong.push(`${new Date(t).toISOString()} false: ${key} ${finding.message}`);
      for (const truth of right) seen.add(truth);
    }
    for (const [key, about] of byId) {
      // Looks go forward: what is over does not come back.
      while (about[0] && about[0].to < t - edge) about.shift();
      if (present.has(key)) continue;
      const missed = about.find(({ how, from, to }) => how === "exact" && t > from + edge && t < to - edge);
      if (missed) wrong.push(`${new Date(t).toISOString()} not said: ${key}`);
    }
    if (wrong.length > 20) break;
  }
  for (const truth of wrong.length > 20 ? [] : truths) {
    const looked = passes.some((t) => t > truth.from + minute + second && t < truth.to - edge);
    if (truth.how === "once" && truth.from > history.from + 2 * day && looked && !seen.has(truth))
      wrong.push(`never said: ${id(truth.rule, truth.about)} from ${new Date(truth.from).toISOString()}`);
  }
  expect(wrong).toEqual([]);
  // The history must have had something to say, of every kind.
  expect(said).toBeGreaterThan(days);
  const rules = new Set([...seen].map(({ rule }) => rule));
  expect([...rules].sort()).toEqual(
    expect.arrayContaining([
      "fire-gap",
      "late-start",
      "missing-success",
      "no-executor",
      "no-leader",
      "no-virtual-address-holder",
      "not-opened",
      "retry-exhausted",
      "store-disk",
      "time-source",
      "two-virtual-address-holders",
    ]),
  );
});
