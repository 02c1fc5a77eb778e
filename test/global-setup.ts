/** Runs once before all tests: the bundle that process tests start must be the code under test. */
import { execFileSync } from "node:child_process";

export default function setup(): void {
  execFileSync(process.execPath, ["scripts/build.mjs", "--quiet"], { stdio: "inherit" });
}
