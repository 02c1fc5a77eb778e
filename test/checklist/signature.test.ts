/** A report is believed as it was signed, for the cluster and commit it is about, while it is fresh. */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseReport } from "../../src/checklist/read-report.ts";
import { generateKeys, signatureProblem, signReport } from "../../src/checklist/signature.ts";
import { type Expected, refusals } from "../../src/checklist/verify-report.ts";
import { answer, at, head, now, reportOf } from "./fake-report.ts";

const ours = generateKeys();
const signed = signReport(await reportOf({ 3: [answer("fail")] }), ours.privatePem);
const text = JSON.stringify(signed, null, 2);
const problem = (changed: string, key = ours.publicPem) => signatureProblem(JSON.parse(changed), key);

describe("the signature", () => {
  test("is right for the document as written, in any layout and order of keys", () => {
    expect(problem(text)).toBeNull();
    expect(problem(JSON.stringify(signed))).toBeNull();
    expect(problem(JSON.stringify(Object.fromEntries(Object.entries(signed).reverse())))).toBeNull();
  });

  test.each<[string, (text: string) => string]>([
    ["a verdict", (t) => t.replace('"verdict": "fail"', '"verdict": "pass"')],
    ["the outcome", (t) => t.replace('"outcome": "fail"', '"outcome": "pass"')],
    ["the time", (t) => t.replace(at, "2026-07-02T02:00:00.000Z")],
    ["the cluster", (t) => t.replace("0b0e5d2e", "1b0e5d2e")],
    ["evidence", (t) => t.replace('"output": "42"', '"output": "43"')],
    ["a field that this version does not know", (t) => t.replace("{", '{"more": 1,')],
    ["a hidden second value", (t) => t.replace('"outcome": "fail"', '"outcome": "fail", "outcome": "pass"')],
    ["a prototype", (t) => t.replace("{", '{"__proto__": {"outcome": "pass"},')],
    [
      "an answer that is left out",
      (t) => JSON.stringify({ ...JSON.parse(t), items: JSON.parse(t).items.slice(1) }),
    ],
  ])("does not cover a change of %s", (_, change) => {
    const changed = change(text);
    expect(changed).not.toBe(text);
    expect(problem(changed)).toBe("it was changed after it was signed");
  });

  test("of another key, of nobody, of another kind, of rubbish", () => {
    expect(problem(text, generateKeys().publicPem)).toMatch(/signed with another key/);
    expect(problem(JSON.stringify({ ...signed, signature: undefined }))).toBe("the report is not signed");
    const with_ = (signature: object) =>
      JSON.stringify({ ...signed, signature: { ...signed.signature, ...signature } });
    expect(problem(with_({ algorithm: "none" }))).toMatch(/kind that is not known/);
    expect(problem(with_({ value: "" }))).toMatch(/changed/);
    expect(problem(with_({ value: 7 }))).toMatch(/kind/);
  });

  test("signing again gives the same report", () => {
    expect(signReport(signed, ours.privatePem)).toEqual(signed);
  });

  test("a key of another kind is told", () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = rsa.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
    expect(() => signReport(signed, pem)).toThrow(/--sign: the file is not an Ed25519 key/);
    expect(() => signReport(signed, "rubbish")).toThrow(/is not a key in PEM/);
    expect(createPrivateKey(ours.privatePem).asymmetricKeyType).toBe("ed25519");
  });
});

describe("refusals", () => {
  const stored = parseReport(text, "report.json");
  const cases: [string, Expected, Date, RegExp | null][] = [
    ["nothing expected", {}, now, null],
    [
      "all as expected",
      { publicPem: ours.publicPem, clusterId: signed.cluster.id!, commit: "A".repeat(40), maxAgeMs: 60_000 },
      new Date(now.getTime() + 60_000),
      null,
    ],
    ["the beginning of the commit", { commit: "aaaaaaa" }, now, null],
    ["too short a beginning", { commit: "aaaaaa" }, now, /about commit a{40}, not aaaaaa/],
    ["another commit", { commit: "b".repeat(40) }, now, /not b{40}/],
    ["another cluster", { clusterId: "other" }, now, /is about cluster 0b0e5d2e.*, not other/],
    ["too old", { maxAgeMs: 60_000 }, new Date(now.getTime() + 61_000), /made 1m1s ago; at most 1m/],
    ["from the future", {}, new Date(now.getTime() - 301_000), /in the future/],
    ["of a clock that is a little ahead", {}, new Date(now.getTime() - 299_000), null],
  ];
  test.each(cases)("%s", (_, expected, when, refusal) => {
    const found = refusals(stored, expected, when);
    if (refusal === null) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringMatching(refusal)]);
  });

  test("all reasons are told at once", () => {
    const found = refusals(
      stored,
      { clusterId: "x", commit: "b".repeat(40), maxAgeMs: 1 },
      new Date(now.getTime() + 9_000),
    );
    expect(found.length).toBe(3);
  });

  test("files with changes on top of the commit, or of no known commit", async () => {
    const of = async (commit: { id: string | null; clean: boolean | null }, uncheckedFiles = false) => {
      const report = await reportOf({}, { head: head({ commit }) });
      return refusals({ report, raw: {} }, { commit: "a".repeat(40), uncheckedFiles }, now);
    };
    expect(await of({ id: "a".repeat(40), clean: false })).toEqual([expect.stringMatching(/changes on top/)]);
    expect(await of({ id: null, clean: null })).toEqual([expect.stringMatching(/\(unknown\)/)]);
    expect(await of({ id: "a".repeat(40), clean: null })).toEqual([
      expect.stringMatching(/nobody could tell/),
    ]);
    expect(await of({ id: "a".repeat(40), clean: null }, true)).toEqual([]);
    expect(await of({ id: "a".repeat(40), clean: false }, true)).toHaveLength(1);
  });
});

test("what is not a report is told, and never thrown as anything else", () => {
  for (const wrong of ["", "{", "null", "[]", '"x"', "{}", '{"schemaVersion":2}'])
    expect(() => parseReport(wrong, "r.json")).toThrow(/r\.json is not a report of the checklist/);
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(() => parseReport(json, "r.json")).toThrow(/is not a report of the checklist/);
    }),
    { numRuns: 200 },
  );
});

test("a report with fields of a later version is read", () => {
  const raw = JSON.parse(text);
  raw.later = { deep: true };
  raw.items[0].later = 1;
  expect(parseReport(JSON.stringify(raw), "r.json").report.items.length).toBe(15);
});
