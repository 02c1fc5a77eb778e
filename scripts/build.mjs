/**
 * Bundles the product into one file, `dist/escapement.mjs`, and the library for
 * job authors into `dist/guard.mjs`. Takes about a second; `--quiet` says nothing.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const root = new URL("../", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const quiet = process.argv.includes("--quiet");

// CommonJS dependencies inside an ES module bundle still ask for `require`.
const banner = {
  js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
};

const shared = {
  absWorkingDir: root.pathname,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  loader: { ".sql": "text" },
  external: ["pg-native"],
  minify: true,
  keepNames: true,
  legalComments: "none",
  logLevel: "warning",
  define: { "process.env.ESCAPEMENT_VERSION": JSON.stringify(version) },
  banner,
  write: false,
};

try {
  const results = await Promise.all([
    build({ ...shared, entryPoints: ["src/cli/main.ts"], outfile: "dist/escapement.mjs" }),
    build({ ...shared, entryPoints: ["src/guard/index.ts"], outfile: "dist/guard.mjs" }),
  ]);
  mkdirSync(new URL("dist", root), { recursive: true });
  for (const file of results.flatMap((result) => result.outputFiles)) {
    // Renamed into place: a process that starts meanwhile reads the old bundle or the new one, never half of one.
    writeFileSync(`${file.path}.${process.pid}`, file.contents);
    renameSync(`${file.path}.${process.pid}`, file.path);
  }
} catch (error) {
  // esbuild has already said where and what.
  if (!("errors" in error)) console.error(error);
  process.exit(1);
}
if (!quiet) console.error("built dist/escapement.mjs and dist/guard.mjs");
