/** The program that does drills on a host: one file there, in parts here. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { shippedProfiles } from "../shipped-profiles.ts";

/** Its text: the parts in the order of their names. */
export function drillProgram(): string {
  const folder = join(shippedProfiles(), "files", "drill");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".sh"))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}
