/** The repository's own files, for the tests that read them. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Paths, relative to the root, of everything that is tracked or about to be (ignored files are neither). */
export function repositoryFiles(): string[] {
  const list = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  return [...new Set(list.split("\0"))].filter((path) => path !== "" && existsSync(join(root, path)));
}

export function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** What a TypeScript or JavaScript text imports, types included, in the words of its import lines. */
export function importsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const forms = [
    /^\s*(?:import|export)\b[^"';]*?\bfrom\s*["']([^"']+)["']/gm,
    /^\s*import\s*["']([^"']+)["']/gm,
    /\bimport\(\s*["']([^"']+)["']/g,
  ];
  return forms.flatMap((form) => [...code.matchAll(form)].map((match) => match[1]!));
}
