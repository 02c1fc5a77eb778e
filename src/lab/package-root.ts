/** Where this package is on the disk, seen from the source as from the bundle. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of our package.json, or undefined when the code was copied away from it. */
export function packageRoot(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isOurs(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  return folder;
}

function isOurs(manifest: string): boolean {
  try {
    return JSON.parse(readFileSync(manifest, "utf8")).name === "escapement";
  } catch {
    return false;
  }
}
