/** Runs a TypeScript program of this repository on plain Node: bundled into a cache folder, then imported. */
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));

/** @param entry for example `bench/cron.ts`. @param args what the program finds in `process.argv` from index 2 on */
export async function bundleAndRun(entry, args) {
  // Inside node_modules, so that the packages it imports are found by the usual rule.
  const file = `${root}node_modules/.cache/escapement/run/${basename(entry, ".ts")}.${process.pid}.mjs`;
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node20.19",
    format: "esm",
    loader: { ".sql": "text", ".sh": "text" },
    sourcemap: "inline",
    logLevel: "warning",
  });
  process.argv = [process.argv[0], file, ...args];
  process.on("exit", () => rmSync(file, { force: true }));
  await import(pathToFileURL(file).href);
}
