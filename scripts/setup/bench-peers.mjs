/**
 * What benchmarks compare with. The queues of `npm run bench -- throughput` lie in
 * a folder of their own: they are no part of the project, and one of them says
 * that it wants a newer Node although it runs on this one. `npm run bench --
 * provision` compares with Ansible as Debian packages it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { install } from "./debian-packages.mjs";
import { cacheFolder, say } from "./place.mjs";

const peers = ["graphile-worker@0.17.3", "pg-boss@12.38.0"];
const home = join(cacheFolder, "peers");

/** A peer that cannot be had is left out; the benchmark says so. */
export function ensureBenchPeers() {
  ensureQueues();
  ensureAnsible();
}

function ensureAnsible() {
  if (existsSync("/usr/bin/ansible-playbook")) return;
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return;
  try {
    install(["ansible"]);
  } catch {
    say("ansible could not be installed; the benchmark runs without it");
  }
}

function ensureQueues() {
  const missing = peers.filter((peer) => !existsSync(join(home, "node_modules", peer.split("@")[0])));
  if (missing.length === 0) return;
  say(`installing for comparison: ${missing.join(", ")}`);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), '{"private":true}\n');
  try {
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...peers], {
      cwd: home,
      stdio: "ignore",
    });
  } catch {
    say("they could not be installed; the benchmark runs without them");
  }
}
