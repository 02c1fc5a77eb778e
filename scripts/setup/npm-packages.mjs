/** Brings node_modules in line with package-lock.json; does nothing, in milliseconds, when it is. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder, root, SetupError, say } from "./place.mjs";

const stamp = join(cacheFolder, "npm-packages");

export function ensureNpmPackages() {
  const lock = join(root, "package-lock.json");
  const wanted = createHash("sha256").update(readFileSync(lock)).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  if (!installedByHand(lock)) {
    say("installing the npm packages of package-lock.json (npm ci)");
    const result = spawnSync("npm", ["ci", "--ignore-scripts"], {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
    });
    if (result.status !== 0) {
      throw new SetupError(
        `npm ci ended with ${result.status ?? result.error?.message}`,
        "see its messages above; npm run setup tries again",
      );
    }
  }
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(stamp, wanted);
}

/** npm leaves a lock file of its own inside node_modules; newer than ours means that an npm install came after it. */
function installedByHand(lock) {
  const inner = join(root, "node_modules/.package-lock.json");
  return existsSync(inner) && statSync(inner).mtimeMs >= statSync(lock).mtimeMs;
}
