/**
 * Bundles the product into one file, `dist/escapement.mjs`, its screens into
 * `dist/ui.mjs`, and the library for job authors into `dist/guard.mjs` and
 * `dist/job.mjs`. Takes about a second;
 * `--quiet` says nothing, `--types` writes their type declarations, too.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const root = new URL("../", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
const quiet = process.argv.includes("--quiet");

// CommonJS dependencies inside an ES module bundle still ask for `require` and `__dirname`.
const banner = {
  js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url),__dirname=import.meta.dirname;",
};

const shared = {
  absWorkingDir: root.pathname,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  loader: { ".sql": "text", ".sh": "text" },
  // Optional and compiled; both libraries do without.
  external: ["pg-native", "cpu-features", "*.node"],
  minify: true,
  keepNames: true,
  legalComments: "none",
  logLevel: "warning",
  define: { "process.env.ESCAPEMENT_VERSION": JSON.stringify(version) },
  banner,
  write: false,
};

/** The screens are a bundle of their own: the terminal library is as large as all the rest, and one command needs it. */
const screensApart = {
  name: "screens-apart",
  setup: (build) =>
    build.onResolve({ filter: /\/tui\/start\.tsx$/ }, () => ({ path: "./ui.mjs", external: true })),
};

/** The terminal library asks for React's developer tools, which are not installed, and does so as soon as it is loaded. */
const withoutDevtools = {
  name: "without-devtools",
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, (of) => ({ path: of.path, namespace: "nothing" }));
    build.onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "export default {}" }));
  },
};

try {
  const results = await Promise.all([
    build({
      ...shared,
      entryPoints: ["src/cli/main.ts"],
      outfile: "dist/escapement.mjs",
      plugins: [screensApart],
    }),
    build({
      ...shared,
      entryPoints: ["src/tui/start.tsx"],
      outfile: "dist/ui.mjs",
      jsx: "automatic",
      plugins: [withoutDevtools],
      define: { ...shared.define, "process.env.NODE_ENV": '"production"', "process.env.DEV": '"false"' },
    }),
    build({ ...shared, entryPoints: ["src/guard/index.ts"], outfile: "dist/guard.mjs" }),
    build({ ...shared, entryPoints: ["src/executor/client.ts"], outfile: "dist/job.mjs" }),
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
if (process.argv.includes("--types")) {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.types.json"], {
    cwd: root,
    stdio: "inherit",
  });
  // Declarations keep the extensions of the sources; whoever imports them has neither.
  for (const name of readdirSync(new URL("dist/types", root), { recursive: true })) {
    const file = new URL(`dist/types/${name}`, root);
    if (!name.endsWith(".d.ts")) continue;
    writeFileSync(file, readFileSync(file, "utf8").replace(/(from |import\()"(\.[^"]*)\.ts"/g, '$1"$2.js"'));
  }
}
if (!quiet) console.error("built dist/escapement.mjs, dist/ui.mjs, dist/guard.mjs and dist/job.mjs");
