/**
 * How long a plan of 300 resources takes on one host, without the connection:
 * the bundle is run by this machine's shell, as root or not.
 *
 *   npm run bench -- provision-plan [rounds]
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAnswer } from "../src/provision/bundle/frame.ts";
import { hostPaths } from "../src/provision/bundle/probe.ts";
import { readBundle } from "../src/provision/bundle/read-bundle.ts";
import { Reading } from "../src/provision/bundle/reading.ts";
import { changesOf, planHost } from "../src/provision/plan/host-plan.ts";
import { probesOf } from "../src/provision/plan/judge.ts";
import type { Resource } from "../src/provision/resource.ts";

const rounds = Number(process.argv[2] ?? 15);
const root = mkdtempSync(join(tmpdir(), "escapement-bench-"));
const common = { risk: "low", noop: "", after: [], restarts: [], provenance: [] } as const;
const resources: Resource[] = [];
try {
  mkdirSync(join(root, "etc"), { recursive: true });
  for (let i = 0; i < 200; i++) {
    const path = `/etc/file-${i}.conf`;
    const content = `# file ${i}\n`.repeat(40);
    // Three files have drifted.
    writeFileSync(join(root, path), i % 70 === 0 ? `${content}by hand\n` : content);
    resources.push({
      ...common,
      kind: "file",
      id: `file:${path}`,
      path,
      content,
      owner: "root",
      group: "root",
      mode: 0o644,
    });
  }
  for (const name of [
    "dpkg",
    "bash",
    "coreutils",
    "sed",
    "grep",
    "tar",
    "gzip",
    "findutils",
    "util-linux",
    "login",
  ])
    resources.push({ ...common, kind: "package", id: `package:${name}`, name, state: "installed" });
  for (let i = 0; i < 40; i++)
    resources.push({
      ...common,
      kind: "unit",
      id: `unit:unit-${i}.service`,
      name: `unit-${i}.service`,
      enabled: false,
      running: false,
    });
  for (let i = 0; i < 40; i++) {
    mkdirSync(join(root, "proc/sys/net"), { recursive: true });
    writeFileSync(join(root, `proc/sys/net/key_${i}`), `${i}\n`);
    resources.push({
      ...common,
      kind: "sysctl",
      id: `sysctl:net.key_${i}`,
      key: `net.key_${i}`,
      value: String(i),
    });
  }
  for (const name of ["root", "daemon", "bin", "sys", "adm", "tty", "disk", "lp", "mail", "news"])
    resources.push({ ...common, kind: "group", id: `group:${name}`, name, system: true });
  const paths = hostPaths(root);
  const took: number[] = [];
  const judged: number[] = [];
  let changes = 0;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const { script, nonce } = readBundle(probesOf(resources), { paths });
    const { stdout } = spawnSync("sh", ["-s"], { input: script, encoding: "utf8", maxBuffer: 1 << 26 });
    const answered = performance.now();
    const answer = parseAnswer(stdout, nonce);
    if ("lost" in answer) throw new Error(answer.lost);
    changes = changesOf(planHost("here", resources, new Reading(answer.facts, paths))).length;
    took.push(answered - began);
    judged.push(performance.now() - answered);
  }
  const median = (list: number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!;
  const print = (list: number[]) =>
    `median ${median(list).toFixed(0)} ms, best ${Math.min(...list).toFixed(0)} ms`;
  console.log(`${resources.length} resources, ${changes} to change, ${rounds} rounds`);
  console.log(`shell on the host: ${print(took)}`);
  console.log(`judging here:      ${print(judged)}`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
