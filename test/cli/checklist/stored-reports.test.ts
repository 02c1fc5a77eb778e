/** `checklist gate`, `verify` and `keygen` as a pipeline runs them: every exit code. */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChecklistReport } from "../../../src/checklist/report-schema.ts";
import { signReport } from "../../../src/checklist/signature.ts";
import { answer, head, reportOf, runsOf, waiver } from "../../checklist/fake-report.ts";

let folder: string;
/** Reports are made now: verify refuses old ones. */
const fresh = { head: head({ at: new Date().toISOString() }) };
const dayMs = 86_400_000;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "checklist-"));
  const cluster = { kind: "cluster" } as const;
  const recent = { created: new Date(Date.now() - dayMs), expires: new Date(Date.now() + dayMs) };
  write("pass", await reportOf({}, fresh));
  write("fail", await reportOf({ 3: [answer("fail")], 4: [answer("unknown")] }, fresh));
  write("unknown", await reportOf({ 3: [answer("unknown")] }, fresh));
  write("nothing", await reportOf({}, { ...fresh, runs: [] }));
  write("some", await reportOf({}, { ...fresh, runs: await runsOf({}, [1, 2]) }));
  write(
    "waived",
    await reportOf({ 3: [answer("fail")] }, { ...fresh, waivers: [waiver(3, cluster, recent)] }),
  );
  write(
    "unmatched",
    await reportOf({}, { ...fresh, waivers: [waiver(3, { kind: "job", name: "x" }, recent)] }),
  );
  const stale = { head: head({ at: new Date(Date.now() - 2 * dayMs).toISOString() }) };
  const over = { created: new Date(Date.now() - 9 * dayMs), expires: new Date(Date.now() - dayMs) };
  write(
    "ran-out",
    await reportOf({ 3: [answer("fail")] }, { ...stale, waivers: [waiver(3, cluster, over)] }),
  );
  write("painted", { ...(await reportOf({ 3: [answer("fail")] }, fresh)), outcome: "pass", reasons: [] });
  writeFileSync(join(folder, "text.json"), "all is well\n");
  writeFileSync(join(folder, "half.pub"), "of somebody else\n");
  writeFileSync(join(folder, "other.json"), '{"schemaVersion":1}\n');
  await run("keygen", "-o", "key");
  await run("keygen", "-o", "other-key");
  const key = readFileSync(join(folder, "key"), "utf8");
  const signed = signReport(await reportOf({}, fresh), key);
  write("signed", signed);
  const unchecked = head({ at: new Date().toISOString(), commit: { id: "a".repeat(40), clean: null } });
  write("signed-unchecked", signReport(await reportOf({}, { head: unchecked }), key));
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  writeFileSync(join(folder, "deep.json"), JSON.stringify(signed).replace(/\}$/, `,"z":${deep}}`));
  write("edited", { ...signed, person: "somebody" });
  write("signed-stale", signReport(await reportOf({}, stale), key));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, report: ChecklistReport): void {
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(report));
}

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const bin = join(process.cwd(), "bin/escapement.mjs");
    execFile(process.execPath, [bin, "checklist", ...args], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

test.concurrent.each<[string, number, RegExp]>([
  ["pass", 0, /^pass: 15 of 15 items pass/],
  ["waived", 0, /^pass: 14 of 15 items pass/],
  [
    "fail",
    1,
    /^item 3 fake-3: fail: cluster: says fail\nitem 4 fake-4: unknown: cluster: says unknown\nfail: 13 of 15/,
  ],
  ["painted", 1, /^item 3 fake-3: fail/],
  ["unmatched", 1, /fits no answer/],
  ["ran-out", 1, /has expired/],
  ["unknown", 5, /^item 3 fake-3: unknown/],
  ["nothing", 5, /^no item has run\nunknown: 0 of 15/],
  ["some", 5, /^not all items were asked: 0, 3, /],
])("gate: %s ends with %i", async (name, code, text) => {
  const found = await run("gate", `${name}.json`, "--max-age", "7d");
  expect(found.stdout).toMatch(text);
  expect(found.code).toBe(code);
  const json = await run("gate", `${name}.json`, "--json", "--max-age", "7d");
  expect(json.code).toBe(code);
  expect(JSON.parse(json.stdout)).toMatchObject({
    schemaVersion: 1,
    outcome: ["pass", "fail"][code] ?? "unknown",
  });
});

test.concurrent.each<[string[], number, RegExp]>([
  [["gate"], 64, /missing required argument 'report'/],
  [["gate", "pass.json", "--rubbish"], 64, /unknown option/],
  [["gate", "nowhere.json"], 65, /cannot read nowhere\.json/],
  [["gate", "text.json"], 65, /text\.json is not a report of the checklist/],
  [["gate", "other.json"], 65, /other\.json is not a report of the checklist: kind/],
  [["gate", "edited.json", "--key", "key.pub"], 4, /changed after it was signed/],
  [["gate", "signed.json", "--key", "key.pub", "--max-age", "1h"], 0, /^$/],
  [["gate", "ran-out.json"], 4, /at most 1d is allowed/],
  [["gate", "deep.json", "--key", "key.pub"], 65, /nested deeper than a report can be/],
  [["gate", "signed.json", "--key", "key"], 4, /key is a private key/],
  [["keygen", "-o", "half"], 4, /half\.pub exists/],
  [["verify", "signed.json", "--key", "key.pub"], 0, /^$/],
  [["verify", "signed.json"], 64, /--key is needed/],
  [["verify", "signed.json", "--key", "key.pub", "--max-age", "soon"], 64, /"soon" is not a duration/],
  [["verify", "signed.json", "--key", "signed.json"], 64, /--key: the file is not a key in PEM/],
  [["verify", "text.json", "--key", "key.pub"], 65, /is not a report/],
  [["verify", "signed.json", "--key", "nowhere.pub"], 65, /cannot read nowhere\.pub/],
  [
    ["verify", "pass.json", "--key", "key.pub"],
    4,
    /the report is not signed[\s\S]*--format json -o DIR --sign KEY/,
  ],
  [["verify", "edited.json", "--key", "key.pub"], 4, /changed after it was signed/],
  [["verify", "signed.json", "--key", "other-key.pub"], 4, /signed with another key/],
  [["verify", "signed.json", "--key", "key.pub", "--cluster", "x"], 4, /is about cluster 0b0e5d2e/],
  [["verify", "signed.json", "--key", "key.pub", "--commit", "b".repeat(40)], 4, /is about commit a{40}/],
  [
    ["verify", "signed-unchecked.json", "--key", "key.pub", "--commit", "a".repeat(40)],
    4,
    /nobody could tell whether its files were those of commit a{40}/,
  ],
  [
    ["verify", "signed-unchecked.json", "--key", "key.pub", "--commit", "a".repeat(40), "--unchecked-files"],
    0,
    /^$/,
  ],
  [["verify", "signed-stale.json", "--key", "key.pub"], 4, /at most 1d is allowed/],
  [["verify", "signed-stale.json", "--key", "key.pub", "--max-age", "3d"], 0, /^$/],
  [["keygen", "-o", "key"], 4, /key exists/],
  [["keygen"], 64, /required option/],
  [["keygen", "-o", "no/such/folder/key"], 69, /cannot write no\/such/],
])("%j ends with %i", async (args, code, stderr) => {
  const found = await run(...args);
  expect({ code: found.code, stderr: found.stderr }).toEqual({ code, stderr: expect.stringMatching(stderr) });
});

test("verify says that nobody compared the files with the commit", async () => {
  const { stdout } = await run("verify", "signed-unchecked.json", "--key", "key.pub");
  expect(stdout).toMatch(/commit a{40} \(nobody compared the files with it\), as signed/);
});

test("keygen leaves no half of a pair", () => {
  expect(existsSync(join(folder, "half"))).toBe(false);
});

test("keygen: the private key is for its owner alone, and nothing of it is shown", async () => {
  expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, "key.pub"), "utf8")).toMatch(/^-----BEGIN PUBLIC KEY-----/);
  const { stdout, stderr } = await run("keygen", "-o", "third", "--json");
  expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, privateKey: "third", publicKey: "third.pub" });
  expect(stdout + stderr).not.toContain(readFileSync(join(folder, "third"), "utf8").split("\n")[1]);
});
