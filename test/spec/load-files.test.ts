/** Files and folders as they are found on real disks. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadFiles } from "../../src/spec/load.ts";
import { formatProblem } from "../../src/spec/problem.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "load-files-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const set = (name: string) =>
  `apiVersion: escapement/v1\nkind: PolicySet\nmetadata: { name: ${name} }\nspec: {}\n`;

function write(path: string, content: string | Buffer): string {
  const full = join(folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
  return full;
}

async function load(...paths: string[]) {
  const loaded = await loadFiles(paths.length > 0 ? paths : [folder]);
  return {
    files: loaded.files,
    names: loaded.documents.map(({ id }) => id),
    problems: loaded.problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, "")),
  };
}

test("a folder is read with everything below it, in order, without hidden folders and packages", async () => {
  write("b.yml", set("b"));
  write("a/z.yaml", set("z"));
  write("a/y.YAML", `${set("y1")}---\n${set("y2")}`);
  write("notes.md", "not a definition");
  write(".git/c.yaml", "broken: [");
  write("node_modules/c.yaml", "broken: [");
  expect(await load()).toEqual({ files: 3, names: ["y1", "y2", "z", "b"], problems: [] });
});

test("a file that is named is read whatever it is called, and once however often it is named", async () => {
  const file = write("set.txt", set("a"));
  symlinkSync(file, join(folder, "link.yaml"));
  expect(await load(file, folder, join(folder, "link.yaml"))).toEqual({
    files: 1,
    names: ["a"],
    problems: [],
  });
});

test("links are followed, in circles once", async () => {
  write("jobs/a.yaml", set("a"));
  symlinkSync(join(folder, "jobs"), join(folder, "jobs/again"));
  // With two circles, a walk that does not remember would take 2^40 steps.
  symlinkSync(folder, join(folder, "jobs/above"));
  symlinkSync(join(folder, "jobs"), join(folder, "linked"));
  expect(await load()).toEqual({ files: 1, names: ["a"], problems: [] });
});

test("what cannot be read is told, and the rest is read", async () => {
  write("good.yaml", set("good"));
  symlinkSync(join(folder, "gone"), join(folder, "dangling.yaml"));
  mkdirSync(join(folder, "empty"));
  const { names, problems } = await load(
    join(folder, "empty"),
    folder,
    join(folder, "missing.yaml"),
    "/dev/null",
  );
  expect(names).toEqual(["good"]);
  expect(problems).toEqual([
    "/dev/null  is not a regular file",
    expect.stringMatching(/^dangling\.yaml {2}cannot be read: ENOENT/),
    "empty  is a folder without any *.yaml or *.yml file",
    "missing.yaml  there is no such file or folder",
  ]);
});

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));

test.each<[string, Buffer, string[], (string | undefined)[]]>([
  ["nothing at all", bytes(""), ["x.yaml  is empty: there is no document in it"], []],
  ["comments alone", bytes("# later\n---\n"), ["x.yaml  is empty: there is no document in it"], []],
  ["a byte order mark", bytes([0xef, 0xbb, 0xbf], set("a")), [], ["a"]],
  [
    "a byte order mark, then a mistake",
    bytes([0xef, 0xbb, 0xbf], "kind: Jub\n"),
    [expect.stringMatching(/^x\.yaml:1:7 {2}kind /)],
    [],
  ],
  ["lines of Windows", bytes(set("a").replaceAll("\n", "\r\n")), [], ["a"]],
  [
    "UTF-16",
    bytes([0xff, 0xfe], Buffer.from("kind: Job", "utf16le").toJSON().data),
    ["x.yaml:1:1  is UTF-16; save it as UTF-8"],
    [],
  ],
  [
    "Latin-1",
    bytes("# ok\nname: caf", [0xe9], "\n"),
    ["x.yaml:2:10  is not UTF-8 from here on; save it as UTF-8"],
    [],
  ],
  [
    "half a character at the end",
    bytes("# ä", [0xc3]),
    ["x.yaml:1:4  is not UTF-8 from here on; save it as UTF-8"],
    [],
  ],
  [
    "a control character",
    bytes("# ok\na: b\u0000c"),
    ["x.yaml:2:5  contains the control character 0x00"],
    [],
  ],
  [
    "letters of everywhere",
    bytes(`${set("a").trimEnd().slice(0, -2)}{ description: "Zürich 東京 🕰" }\n`),
    [],
    ["a"],
  ],
  ["too much", Buffer.alloc(5 * 1024 * 1024, "#"), ["x.yaml  is larger than 4 MiB"], []],
])("%s", async (_, content, problems, names) => {
  write("x.yaml", content);
  expect(await load()).toEqual({ files: 1, names, problems });
});

test("a mistake in one document does not hide the others, before it or after it", async () => {
  write("x.yaml", `${set("a")}---\nkind: [\n---\n${set("b")}---\nkind: PolicySet\n---\n${set("c")}`);
  const { names, problems } = await load();
  expect(names).toEqual(["a", "b", undefined, "c"]);
  expect(problems.map((line) => line.split(" ")[0])).toEqual([
    "x.yaml:7:1",
    "x.yaml:13:1",
    "x.yaml:13:1",
    "x.yaml:13:1",
  ]);
});
