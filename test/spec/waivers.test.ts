/** Files of waivers: what is wrong is told with its place, and then no waiver counts. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadWaivers } from "../../src/spec/load-waivers.ts";
import { formatProblem } from "../../src/spec/problem.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "waivers-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const head = "apiVersion: escapement/v1\nkind: Waivers\nmetadata: { name: release }\nspec:\n  waivers:\n";
const one = `    - item: 3
      scope: { kind: job, name: finance/settlement }
      reason: the new policy is tested in August
      owner: Ada
      approver: Grace
      created: 2026-07-01T00:00:00Z
      expires: 2026-09-29T00:00:00Z
`;

async function read(text: string) {
  const file = join(folder, "w.yaml");
  writeFileSync(file, text);
  const { waivers, problems } = await loadWaivers(file);
  return { waivers, problems: problems.map((problem) => formatProblem({ ...problem, file: "w.yaml" })) };
}

test("a right file gives its waivers with their places", async () => {
  const { waivers, problems } = await read(
    `${head}${one}${one.replace("item: 3", "item: 11").replace("kind: job, name: finance/settlement", "kind: cluster")}`,
  );
  expect(problems).toEqual([]);
  expect(
    waivers.map(({ item, scope, expires, at }) => [item, scope.kind, expires.toISOString(), at.line]),
  ).toEqual([
    [3, "job", "2026-09-29T00:00:00.000Z", 6],
    [11, "cluster", "2026-09-29T00:00:00.000Z", 13],
  ]);
});

test.each<[string, string, string, RegExp]>([
  [
    "91 days",
    "2026-09-29T00:00:00Z",
    "2026-09-29T00:00:01Z",
    /^w\.yaml:12:16 {2}.*expires must be at most 90 days after created/,
  ],
  [
    "a date without an hour",
    "2026-09-29T00:00:00Z",
    "2026-09-29",
    /expires must be an instant with its offset/,
  ],
  [
    "an instant without a zone",
    "2026-09-29T00:00:00Z",
    "2026-09-29T00:00:00",
    /expires must be an instant with its offset/,
  ],
  [
    "an end before the beginning",
    "2026-09-29T00:00:00Z",
    "2026-06-30T00:00:00Z",
    /expires must be after created/,
  ],
  [
    "the same person",
    "approver: Grace",
    "approver: ' ada '",
    /^w\.yaml:10:17 {2}.*approver must be another person than the owner/,
  ],
  [
    "an approver that nobody sees",
    "approver: Grace",
    'approver: "\\u200b\\u3164\\u034f"',
    /approver must name somebody/,
  ],
  ["an owner that nobody sees", "owner: Ada", 'owner: "\\u0001"', /owner must name somebody/],
  ["a reason that nobody sees", "the new policy is tested in August", '"\\u3164 -"', /reason must say why/],
  [
    "the owner and a sign that nobody sees",
    "approver: Grace",
    'approver: "Ada\\u3164"',
    /approver must be another person than the owner/,
  ],
  ["no approver", "      approver: Grace\n", "", /approver is missing/],
  ["no reason", "the new policy is tested in August", "''", /reason must not be empty/],
  ["no scope", "      scope: { kind: job, name: finance/settlement }\n", "", /scope is missing/],
  ["a job without a name", "kind: job, name: finance/settlement", "kind: job", /scope must have a name/],
  ["a cluster with a name", "kind: job", "kind: cluster", /scope must have no name/],
  ["a scope for everything", "kind: job", "kind: all", /kind is not one of the choices/],
  [
    "a word that nobody knows",
    "      owner: Ada",
    "      owner: Ada\n      forever: true",
    /forever is not a known field/,
  ],
])("%s is refused", async (_, from, to, message) => {
  const text = `${head}${one}`.replace(from, to);
  expect(text).not.toBe(`${head}${one}`);
  const { waivers, problems } = await read(text);
  expect(waivers).toEqual([]);
  expect(problems).toEqual([expect.stringMatching(message)]);
});

test("two for one item and scope, and documents of another kind", async () => {
  expect(await read(head + one + one)).toEqual({
    waivers: [],
    problems: [expect.stringMatching(/^w\.yaml:13:.*is already waived at line 6/)],
  });
  const watch = "---\napiVersion: escapement/v1\nkind: Workload\n";
  const { waivers, problems } = await read(`${head}${one}${watch}`);
  expect(waivers).toEqual([]);
  expect(problems.join("\n")).toMatch(/kind is Workload; a file of waivers has kind: Waivers/);
});

test("one that is right does not stand beside one that is wrong", async () => {
  const wrong = one.replace("item: 3", "item: 4").replace("approver: Grace", "approver: Ada");
  expect((await read(head + one + wrong)).waivers).toEqual([]);
});
