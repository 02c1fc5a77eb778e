/** What a right file comes to. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, digest } from "../../src/spec/digest.ts";
import { documentsOf, loadText } from "../../src/spec/load.ts";
import { resolveJobs } from "../../src/spec/resolve.ts";
import { fullJob } from "./full-job.ts";

function resolveText(text: string) {
  const { documents, problems } = loadText(text, "jobs.yaml");
  expect(problems).toEqual([]);
  return resolveJobs(documents);
}

describe("a job with every field", () => {
  const { jobs, problems } = resolveText(JSON.stringify(fullJob()));

  test("becomes one definition with units in its names", () => {
    expect(problems).toEqual([]);
    expect(jobs[0]).toMatchObject({ file: "jobs.yaml", line: 1, column: 1 });
    expect(jobs[0]?.definition).toEqual({
      namespace: "finance",
      name: "settlement",
      description: "Recomputes one month of supplier settlements.",
      command: ["node", "settle.mjs", "--whole"],
      workingDirectory: "/opt/finance",
      environment: { CURRENCY: "EUR" },
      schedule: { kind: "cron", cron: "0 2 1 * *" },
      timeZone: "Europe/Berlin",
      dstGap: "run-at-transition",
      dstOverlap: "first",
      period: { unit: "month", offset: -1 },
      misfire: { policy: "within-window", thresholdMs: 60_000, windowMs: 21_600_000 },
      blocking: { policy: "queue", maxQueued: 2 },
      catchUp: { maxFires: 3, keep: "oldest" },
      retry: { maxAttempts: 4, delaysMs: [60_000, 300_000, 1_800_000] },
      leaseMs: 30_000,
      timeoutMs: 1_200_000,
      shards: { by: "hash", count: 32, key: "supplier_id", heavy: ["S-0001"] },
      resources: { class: "cpu", peakMemoryBytes: 536_870_912 },
      effects: [
        {
          kind: "table",
          target: "finance.settlement",
          key: ["supplier_id", "month"],
          mode: "replace",
          sources: ["settle.mjs"],
        },
      ],
      onStoreLoss: "kill",
    });
  });

  test("survives the record store: it is the same after JSON", () => {
    const { definition } = jobs[0]!;
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition);
  });

  test("keeps its digest from version to version", () => {
    // A change of this value makes every applied job look changed.
    expect(jobs[0]?.digest).toBe("3456d6ee04e4f468a67bed85ae17bf86ffcc5813422c22838e80dc38634ad077");
  });
});

test("text may end its lines in any way, begin with a mark, and stand in any order", () => {
  const plain =
    "apiVersion: escapement/v1\nkind: PolicySet\nmetadata:\n  name: p\nspec:\n  description: |\n    two\n    lines\n";
  const value = (text: string) => documentsOf(loadText(text, "x").documents, "PolicySet")[0]?.value;
  expect(value(plain)?.spec.description).toBe("two\nlines\n");
  expect(value(plain.replaceAll("\n", "\r\n"))).toEqual(value(plain));
  const { spec, ...rest } = fullJob();
  const turned = { spec: Object.fromEntries(Object.entries(spec).reverse()), ...rest };
  const [a, b] = [fullJob(), turned].map((job) => resolveText(JSON.stringify(job)).jobs[0]?.digest);
  expect(a).toBe(b);
});

describe("policy sets", () => {
  const set = (spec: object) => ({
    apiVersion: "escapement/v1",
    kind: "PolicySet",
    metadata: { name: "s" },
    spec,
  });
  const jobWith = (spec: object) => ({ ...fullJob(), spec: { policySet: "s", ...spec } });
  const { command, schedule, shards, effects, ...policies } = fullJob().spec;
  const own = { command, schedule, shards, effects };
  const { description: _d, workingDirectory: _w, environment: _e, period: _p, ...onlyPolicies } = policies;

  test("give what the job does not say", () => {
    const text = [set(onlyPolicies), jobWith(own)]
      .map((document) => JSON.stringify(document))
      .join("\n---\n");
    const { jobs, problems } = resolveText(text);
    expect(problems).toEqual([]);
    expect(jobs[0]?.definition.retry).toEqual({ maxAttempts: 4, delaysMs: [60_000, 300_000, 1_800_000] });
  });

  test("a field of the job wins as a whole, and the order of documents does not matter", () => {
    const mine = {
      misfire: { policy: "skip", threshold: "5m" },
      timeZone: "UTC",
      onStoreLoss: "continue-fenced",
    };
    const text = [jobWith({ ...own, ...mine }), set(onlyPolicies)]
      .map((one) => JSON.stringify(one))
      .join("\n---\n");
    const { definition } = resolveText(text).jobs[0]!;
    expect(definition.misfire).toEqual({ policy: "skip", thresholdMs: 300_000 });
    expect(definition.timeZone).toBe("UTC");
    expect(definition.onStoreLoss).toBe("continue-fenced");
    expect(definition.leaseMs).toBe(30_000);
  });
});

describe("kinds of schedules, shards and keys", () => {
  const withSpec = (spec: object) => {
    const job = fullJob();
    Object.assign(job.spec, spec);
    return resolveText(JSON.stringify(job)).jobs[0]!.definition;
  };
  test.each([
    [{ every: "1h30m" }, { kind: "every", everyMs: 5_400_000 }],
    [{ manual: true }, { kind: "manual" }],
    [{ cron: "@daily" }, { kind: "cron", cron: "@daily" }],
  ])("schedule %j", (schedule, expected) => {
    expect(withSpec({ schedule }).schedule).toEqual(expected);
  });

  test.each([
    [{ by: "none" }, { by: "none" }],
    [
      { by: "hash", count: 2, key: "id" },
      { by: "hash", count: 2, key: "id", heavy: [] },
    ],
    [
      { by: "keys", count: 1, keys: ["a", "b"], heavy: ["b"] },
      { by: "keys", count: 1, keys: ["a", "b"], heavy: ["b"] },
    ],
    [
      { by: "frozen", count: 3, freeze: ["psql", "-c", "select id"] },
      { by: "frozen", count: 3, freeze: ["psql", "-c", "select id"] },
    ],
  ])("shards %j", (shards, expected) => {
    expect(withSpec({ shards }).shards).toEqual(expected);
  });

  test("one key is a list of one", () => {
    const effect = {
      kind: "http",
      target: "https://pay/bonus",
      key: "user_id",
      mode: "state",
      sources: ["pay.mjs"],
    };
    expect(withSpec({ effects: [effect] }).effects[0]?.key).toEqual(["user_id"]);
  });
});

describe("digest", () => {
  test("does not depend on the order of keys, nor on absent values", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(digest(turned)).toBe(digest(value));
        expect(digest({ ...value, absent: undefined })).toBe(digest(value));
      }),
    );
  });
  test("tells values apart, and its text is JSON of the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(JSON.parse(canonicalJson(a))).toEqual(JSON.parse(JSON.stringify(a)));
        if (canonicalJson(a) === canonicalJson(b))
          expect(JSON.parse(JSON.stringify(a))).toEqual(JSON.parse(JSON.stringify(b)));
      }),
    );
  });
  test("is SHA-256 of text that anyone can write", () => {
    expect(canonicalJson({ b: [1, { d: null, c: "ä" }], a: true })).toBe(
      '{"a":true,"b":[1,{"c":"ä","d":null}]}',
    );
    expect(digest({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  });
});
