/**
 * Runs the tests, and with --all (or in CI) also those on real hosts, the formatter,
 * the linter, the type checker and the search for dead code. The last line says how it went.
 *
 *   node scripts/test.mjs [--all] [vitest filters and options …]
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const modules = `${root}node_modules/`;
const results = `${modules}.cache/escapement/test-results.${process.pid}.json`;

const args = process.argv.slice(2);
const all = args.includes("--all") || Boolean(process.env.CI);
const filters = args.filter((arg) => arg !== "--all");
if (all) process.env.ESCAPEMENT_HOST_TESTS = "1";

const checks = [
  { name: "biome", command: [`${modules}@biomejs/biome/bin/biome`, "ci", "."] },
  { name: "tsc", command: [`${modules}typescript/bin/tsc`, "--noEmit"] },
  { name: "knip", command: [`${modules}knip/bin/knip.js`] },
];

const count = { passed: 0, failed: 0, skipped: 0 };
let isInterrupted = false;

if (all) {
  for (const { name, command } of checks) {
    console.log(`> ${name}`);
    const code = await run(command);
    count[code === 0 ? "passed" : "failed"] += 1;
    if (code !== 0) console.log(`${name} failed (${code})`);
  }
}

mkdirSync(`${modules}.cache/escapement`, { recursive: true });
const code = await run([
  `${modules}vitest/vitest.mjs`,
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${results}`,
  ...filters,
]);
addTestCounts(code);

// Plain and alone on the last line, for people and for programs that look for it.
const skipped = count.skipped ? `, ${count.skipped} skipped` : "";
console.log(
  `${count.passed} passed, ${count.failed} failed${skipped}${isInterrupted ? ", interrupted" : ""}`,
);
process.exitCode = isInterrupted ? 130 : count.failed === 0 ? 0 : 1;

function addTestCounts(code) {
  let failedTests = 0;
  if (existsSync(results)) {
    const report = JSON.parse(readFileSync(results, "utf8"));
    rmSync(results);
    // A file that could not even be loaded has no tests to count.
    const brokenFiles = report.testResults.filter(
      (file) => file.status === "failed" && file.assertionResults.length === 0,
    );
    failedTests = report.numFailedTests + brokenFiles.length;
    count.passed += report.numPassedTests;
    count.skipped += report.numPendingTests + report.numTodoTests;
  }
  // Errors outside of any test, or no report at all, must not look like success.
  count.failed += code !== 0 && failedTests === 0 && !isInterrupted ? 1 : failedTests;
}

/** @returns the exit code; a signal counts as 1 */
function run(command) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    // Told to stop, we stop what we started; it cleans up after itself, and then so do we.
    for (const signal of ["SIGINT", "SIGTERM"])
      process.once(signal, () => {
        isInterrupted = true;
        child.kill(signal);
      });
    child.once("error", () => resolve(1));
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
