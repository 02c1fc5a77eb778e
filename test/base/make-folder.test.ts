import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../src/base/make-folder.ts";

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), "escapement-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("all that is missing is made, and what is there stays", () => {
  const folder = join(place(), "a", "b");
  makeFolder(folder, 0o700);
  makeFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test("a file in the way is an error", () => {
  const file = join(place(), "file");
  writeFileSync(file, "");
  expect(() => makeFolder(join(file, "below"))).toThrow(/ENOTDIR|not a directory/);
});

test.skipIf(process.platform !== "linux")("where nothing can be made, it ends with an error", () => {
  expect(() => makeFolder("/proc/escapement/below")).toThrow(/ENOENT|no such file/);
});
