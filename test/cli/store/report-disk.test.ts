/** `escapement store report-disk`, as the timer of the store's host runs it. */
import { statfsSync } from "node:fs";
import { hostname } from "node:os";
import { expect, test } from "vitest";
import { Bench } from "../../store/bench.ts";
import { runEscapement } from "../../support/processes.ts";

const run = (url: string, ...args: string[]) =>
  runEscapement(["store", "report-disk", "--url", url, ...args]);

test("the server is asked where its data are; the room there is written down, one line a file system", async () => {
  const bench = await Bench.open();
  const { code, stdout, stderr } = await run(bench.url, "--json");
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const { disks } = JSON.parse(stdout) as {
    disks: { path: string; totalBytes: number; freeBytes: number }[];
  };
  // The log lies on the same file system.
  expect(disks).toHaveLength(1);
  const { bsize, blocks } = statfsSync(disks[0]!.path);
  const { rows } = await bench.db.query("SELECT host, path, total_bytes AS total FROM escapement.store_disk");
  expect(rows).toEqual([{ host: hostname(), path: disks[0]!.path, total: bsize * blocks }]);
});

test("a login that may not ask names the paths; what is not there is an error, and reports nothing", async () => {
  const bench = await Bench.open();
  const { url } = await bench.as("scheduler");
  const hidden = await run(url);
  expect(hidden).toMatchObject({ code: 69, stderr: expect.stringContaining("--path") });
  expect(await run(url, "--path", "/", "--path", "/nowhere/at/all")).toMatchObject({
    code: 65,
    stderr: expect.stringContaining("/nowhere/at/all"),
  });
  expect(await bench.value("SELECT count(*)::int FROM escapement.store_disk")).toBe(0);
  expect(await run(url, "--path", "/")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\/: .* free/),
  });
});
