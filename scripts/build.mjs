/**
 * Bundles the product into one file, `dist/escapement.mjs`, and the library for
 * job authors into `dist/guard.mjs`. Takes about a second; `--quiet` says nothing.
 */
import { readFileSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const quiet = process.argv.includes("--quiet");

// CommonJS dependencies inside an ES module bundle still ask for `require`.
const banner = {
  js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
};

const shared = {
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
};

await Promise.all([
  build({ ...shared, entryPoints: ["src/cli/main.ts"], outfile: "dist/escapement.mjs" }),
  build({ ...shared, entryPoints: ["src/guard/index.ts"], outfile: "dist/guard.mjs" }),
]);
if (!quiet) console.error("built dist/escapement.mjs and dist/guard.mjs");
