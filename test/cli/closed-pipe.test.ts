/** Whoever reads the output goes away in the middle: the exit code stays that of the work. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "../support/database.ts";

const program = join(process.cwd(), "bin/escapement.mjs");
let folder: string;
let db: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "closed-pipe-"));
  db = await freshDatabase({ migrated: true });
  const cluster = {
    apiVersion: "escapement/v1",
    kind: "Cluster",
    metadata: { name: "small" },
    spec: {
      store: { urlEnv: "STORE_URL" },
      scheduler: { nodes: [{ name: "s", http: { address: "127.0.0.1", port: 7101 } }] },
      executor: { nodes: [{ name: "e", slots: { cpu: 1, memory: 0, io: 0 }, workDirectory: "w" }] },
      logs: { directory: "logs" },
    },
  };
  writeFileSync(join(folder, "cluster.yaml"), JSON.stringify(cluster));
});
afterAll(async () => {
  await db?.drop();
  rmSync(folder, { recursive: true });
});

async function exitCode(args: readonly string[], reader: "reads" | "is gone"): Promise<number | null> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...process.env, STORE_URL: db.url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (reader === "is gone") for (const stream of [child.stdout, child.stderr]) stream.destroy();
  else for (const stream of [child.stdout, child.stderr]) stream.resume();
  const [code] = await once(child, "close");
  return code;
}

test.each([
  ["a gate that does not pass", ["checklist", "--cluster", "cluster.yaml", "--gate"]],
  ["the same as one document", ["checklist", "--cluster", "cluster.yaml", "--gate", "--json"]],
  ["files that are wrong", ["jobs", "check", "nowhere.yaml"]],
])("%s", async (_, args) => {
  const expected = await exitCode(args, "reads");
  expect(expected).toBeGreaterThan(0);
  expect(await exitCode(args, "is gone")).toBe(expected);
});

test("output that finds no room is told, as something to mend outside", async () => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [program, "jobs", "schema", "Job"], {
    cwd: folder,
    stdio: ["ignore", full, "pipe"],
  });
  closeSync(full);
  let said = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const [code] = await once(child, "close");
  expect(said).toMatch(/cannot write: ENOSPC[\s\S]*is the disk full\?/);
  expect(code).toBe(69);
});

test("what does nothing but show ends with its reader", async () => {
  expect(await exitCode(["watch", "--every", "1s", "--cluster", "cluster.yaml"], "is gone")).toBe(0);
});
