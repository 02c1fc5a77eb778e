/** The package itself: exact versions, one lockfile without addresses, nothing that runs at install time. */
import { expect, test } from "vitest";
import { importsOf, read, repositoryFiles } from "./repository.ts";

interface Manifest {
  readonly name: string;
  readonly type: string;
  readonly bin: Record<string, string>;
  readonly engines: { readonly node: string };
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

interface Lock {
  readonly packages: Record<
    string,
    { dev?: boolean; devOptional?: boolean; hasInstallScript?: boolean; resolved?: string }
  >;
}

const manifest = JSON.parse(read("package.json")) as Manifest;
const lock = JSON.parse(read("package-lock.json")) as Lock;

test("it is what the documentation says", () => {
  expect(manifest).toMatchObject({
    name: "escapement",
    type: "module",
    bin: { escapement: "bin/escapement.mjs" },
    engines: { node: ">=20.19" },
  });
});

test("every version is exact", () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

/**
 * ssh2 would build an addon for speed and go on without it; cpu-features is
 * only asked for by that addon. We install with --ignore-scripts, and the
 * tests of src/remote run on exactly that.
 */
const worksWithoutItsScript = ["node_modules/cpu-features", "node_modules/ssh2"];

test("nothing on the runtime path needs its install script", () => {
  const runtime = Object.entries(lock.packages).filter(([, one]) => !one.dev && !one.devOptional);
  const scripts = runtime.filter(([, one]) => one.hasInstallScript).map(([path]) => path);
  expect(scripts).toEqual(worksWithoutItsScript);
  expect(read("scripts/setup/npm-packages.mjs")).toContain('"--ignore-scripts"');
});

test("the lockfile names no place to download from", () => {
  expect(Object.entries(lock.packages).filter(([, one]) => one.resolved !== undefined)).toEqual([]);
});

test("what src/ imports is a dependency, not a development dependency", () => {
  const libraries = repositoryFiles()
    .filter((path) => /^src\/.*\.tsx?$/.test(path))
    .flatMap((path) => importsOf(read(path)))
    .filter((target) => !target.startsWith(".") && !target.startsWith("node:"))
    .map((target) =>
      target.startsWith("@") ? target.split("/").slice(0, 2).join("/") : target.split("/")[0]!,
    );
  expect([...new Set(libraries)].filter((library) => !(library in manifest.dependencies))).toEqual([]);
});
