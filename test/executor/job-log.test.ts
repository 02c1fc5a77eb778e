/** Rotation of a job's log: by size, and by day. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { JobLog } from "../../src/executor/supervisor/job-log.ts";

async function write(file: string, maxFileBytes: number, lines: readonly string[]): Promise<void> {
  const log = new JobLog({ file, maxFileBytes, keepFiles: 3 }, (reason) => expect.fail(reason));
  log.open();
  for (const line of lines) log.write(line);
  await log.release();
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "job-log-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("a new day begins a new file, the same day goes on in it", async () => {
  const file = join(folder(), "a.log");
  writeFileSync(file, "yesterday\n");
  const yesterday = new Date(Date.now() - 86_400_000);
  utimesSync(file, yesterday, yesterday);
  await write(file, 1 << 20, ["today\n"]);
  await write(file, 1 << 20, ["again\n"]);
  expect(readFileSync(file, "utf8")).toBe("today\nagain\n");
  expect(readFileSync(`${file}.1`, "utf8")).toBe("yesterday\n");
});

test("a burst larger than a file is cut between lines", async () => {
  const place = folder();
  const file = join(place, "a.log");
  await write(file, 10, ["one 1\ntwo 2\nthree 3\n"]);
  expect(readdirSync(place).sort()).toEqual(["a.log", "a.log.1", "a.log.2"]);
  expect(readFileSync(file, "utf8")).toBe("three 3\n");
});

test("by size, and no more files than asked", async () => {
  const place = folder();
  const file = join(place, "a.log");
  await write(file, 10, ["one one\n", "two two\n", "three 3\n", "four  4\n", "five  5\n", "six   6\n"]);
  expect(readdirSync(place).sort()).toEqual(["a.log", "a.log.1", "a.log.2", "a.log.3"]);
  expect(readFileSync(`${file}.3`, "utf8")).toBe("three 3\n");
  expect(readFileSync(file, "utf8")).toBe("six   6\n");
});
