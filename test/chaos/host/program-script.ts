/** Scripts that use the functions of the host's program, in dash, as they run on a host, without a host. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "escapement-drill-program-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const parts = "profiles/files/drill";
const beforeVerbs = readdirSync(parts)
  .sort()
  .filter((name) => !name.startsWith("90-"))
  .map((name) => readFileSync(join(parts, name), "utf8"))
  .join("");

let count = 0;
/** Runs a script after the functions of the program, with its folders below a temporary one. */
export function run(script: string): { text: string; code: number | null } {
  count += 1;
  const own = join(folder, String(count));
  execFileSync("mkdir", ["-p", join(own, "settings"), join(own, "run/r"), join(own, "kept/runs/r")]);
  const moved = `own=${own}\nsettings=$own/settings kept=$own/kept work=$own/run id=r run=$own/run/r\n`;
  writeFileSync(join(own, "run/r/events"), "");
  writeFileSync(join(own, "script"), `${beforeVerbs}\n${moved}${script}`);
  const { stdout, stderr, status } = spawnSync("sh", [join(own, "script")], { encoding: "utf8" });
  return { text: `${stdout}${stderr}`.trim(), code: status };
}
/** As one word of a shell. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
