/** Drills of the timetable run on the watchman's host, in an executor that takes nothing else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadCluster } from "../../../src/spec/resolve-cluster.ts";
import { factsOf } from "./machines.ts";
import { compileFor, fileAt, inventoryOf, siteHosts, siteSettings } from "./site.ts";

const key = `ssh-ed25519 AAAA${"C3".repeat(32)} drills`;
const withKey = inventoryOf(siteHosts, { ...siteSettings, drillPublicKey: key });
const unitPath = "/etc/systemd/system/escapement-executor.service";

async function clusterOf(compiled: Awaited<ReturnType<typeof compileFor>>) {
  const folder = mkdtempSync(join(tmpdir(), "controller-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "cluster.yaml");
  writeFileSync(file, fileAt(compiled, "/etc/escapement/cluster.yaml").content);
  const { cluster, problems } = await loadCluster(file);
  expect(problems).toEqual([]);
  return cluster!;
}

test("the executor there has one slot, for control, and runs drills as its own user", async () => {
  const compiled = await compileFor("watch", factsOf("small"), { inventory: withKey });
  const { executor } = await clusterOf(compiled);
  expect(executor.isolation).toBe("none");
  expect(executor.nodes.find(({ name }) => name === "watch")?.slots).toEqual({
    cpu: 0,
    memory: 0,
    io: 0,
    control: 1,
  });
  const unit = fileAt(compiled, unitPath);
  expect(unit.content).toContain("executor --cluster /etc/escapement/cluster.yaml --node watch\n");
  expect(unit.content).toContain("User=escapement-executor\n");
  const table = compiled.resources.find(({ id }) => id === "nft-table:inet:escapement");
  expect(JSON.stringify(table)).toContain("10.0.0.23 } tcp dport 7073 accept");
  expect(fileAt(compiled, "/etc/escapement/cluster.yaml").restarts).toContainEqual({
    unit: "escapement-executor.service",
    action: "try-restart",
  });
});

test("other hosts do not know of it", async () => {
  const compiled = await compileFor("exec-1", factsOf("small"), { inventory: withKey });
  const { executor } = await clusterOf(compiled);
  expect(executor.nodes.map(({ name }) => name)).not.toContain("watch");
  expect(executor.nodes.every(({ slots }) => slots.control === 0)).toBe(true);
});

test("without a drill key there is no such executor", async () => {
  const compiled = await compileFor("watch", factsOf("small"));
  expect(compiled.resources.map(({ id }) => id)).not.toContain(`file:${unitPath}`);
  const { executor } = await clusterOf(compiled);
  expect(executor.nodes.map(({ name }) => name)).not.toContain("watch");
});
