/** Where the profiles that come with the program are. */
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The program's own profiles/ folder, seen from the source as from the bundle; relative where that is shorter. */
export function shippedProfiles(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "profiles", "base.yaml"))) {
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  const absolute = join(folder, "profiles");
  const short = relative(process.cwd(), absolute);
  return short.startsWith("..") || short === "" ? absolute : short;
}
