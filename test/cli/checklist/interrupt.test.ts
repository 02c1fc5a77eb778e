/** A run that is stopped says what it did not look at, and is never green. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ChecklistReport } from "../../../src/checklist/report-schema.ts";
import { fullJob } from "../../spec/full-job.ts";

test("Ctrl-C while the store does not answer: everything is unknown, exit code 130", async () => {
  const folder = mkdtempSync(join(tmpdir(), "checklist-stop-"));
  mkdirSync(join(folder, "jobs"));
  writeFileSync(join(folder, "jobs/a.yaml"), JSON.stringify(fullJob()));
  // Takes connections and says nothing; the first one is the moment to stop.
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const url = `postgres://nobody@127.0.0.1:${(silent.address() as AddressInfo).port}/x`;
  try {
    const bin = join(process.cwd(), "bin/escapement.mjs");
    const child = spawn(process.execPath, [bin, "checklist", "jobs", "--url", url, "--gate", "--json"], {
      cwd: folder,
    });
    silent.on("connection", () => child.kill("SIGINT"));
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => (stdout += part));
    child.stderr.resume();
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    const report = JSON.parse(stdout) as ChecklistReport;
    expect(report.outcome).toBe("unknown");
    expect(report.items.map(({ verdict }) => verdict)).toEqual(report.items.map(() => "unknown"));
    expect(report.items[0]!.results[0]!.message).toMatch(/the run was stopped/);
    expect(code).toBe(130);
  } finally {
    silent.close();
    rmSync(folder, { recursive: true });
  }
});
