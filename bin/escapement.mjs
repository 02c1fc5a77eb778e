#!/usr/bin/env node
// The launcher answers --version by itself, so that it costs no more than Node's own start.
import { readFileSync } from "node:fs";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `error E_NODE_TOO_OLD: Node ${process.versions.node} is too old\nhint: install Node 20.19 or newer`,
  );
  process.exit(69);
}
const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  console.log(version);
} else {
  await import("../dist/escapement.mjs");
}
