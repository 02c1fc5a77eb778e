/** The watchman's own copy of the digests outlives it, and is believed before the records. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DigestBook } from "../../src/watchman/digest-book.ts";

test("a changed digest and a version that is gone are found, also by the next process; a new version is learned", () => {
  const folder = mkdtempSync(join(tmpdir(), "digests-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "deep", "digests.json");
  expect(new DigestBook(file).compare([{ jobId: 1, version: 2, digest: "a" }])).toEqual([]);
  const next = new DigestBook(file);
  expect(next.compare([{ jobId: 1, version: 2, digest: "b" }])).toEqual([
    { jobId: 1, version: 2, was: "a", is: "b" },
  ]);
  expect(next.compare([{ jobId: 1, version: 1, digest: "z" }])).toEqual([
    { jobId: 1, version: 2, was: "a", is: null },
  ]);
  expect(next.compare([{ jobId: 1, version: 3, digest: "c" }])).toEqual([]);
  expect(new DigestBook(file).compare([{ jobId: 1, version: 3, digest: "c" }])).toEqual([]);
  writeFileSync(file, "{ half a fi");
  expect(new DigestBook(file).compare([{ jobId: 1, version: 1, digest: "z" }])).toEqual([]);
});
