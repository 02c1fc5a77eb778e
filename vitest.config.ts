import { readFile } from "node:fs/promises";
import { defineConfig } from "vitest/config";

/** Turns `import sql from "./x.sql"`, or a shell script, into the file's text, as the bundle does. */
const sqlAsText = {
  name: "sql-as-text",
  enforce: "pre" as const,
  async load(id: string) {
    if (!/\.(sql|sh)$/.test(id)) return null;
    return `export default ${JSON.stringify(await readFile(id, "utf8"))}`;
  },
};

const shared = {
  // These limits only stop a hang; machines are slow and shared at times.
  testTimeout: 60_000,
  hookTimeout: 120_000,
  pool: "forks" as const,
};

/** Tests on real hosts: minutes, root, and a machine that can run them. */
const hostTests = ["test/lab/hosts/**/*.test.ts", "test/hosts/**/*.test.ts"];

/** Only for those who ask: by the variable (`npm test -- --all` sets it), or by naming such a file. */
const wantsHosts =
  process.env.ESCAPEMENT_HOST_TESTS === "1" ||
  process.argv.some((argument) => /^(\.\/)?test\/(lab\/)?hosts(\/|$)/.test(argument));

export default defineConfig({
  test: {
    globalSetup: ["test/global-setup.ts"],
    maxWorkers: 2,
    projects: [
      {
        plugins: [sqlAsText],
        test: {
          ...shared,
          name: "all",
          include: ["test/**/*.test.ts"],
          exclude: ["test/torture/**", ...hostTests],
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins: [sqlAsText],
        // Alone and last: it needs every core, and nothing timed runs well beside it.
        test: {
          ...shared,
          name: "torture",
          include: ["test/torture/**/*.test.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      // Whole machines. They mostly wait, so two files run side by side; each has its own labs.
      ...(wantsHosts
        ? [
            {
              plugins: [sqlAsText],
              test: {
                ...shared,
                // A host boots, installs packages and shuts down in seconds to minutes.
                testTimeout: 300_000,
                hookTimeout: 300_000,
                name: "hosts",
                include: hostTests,
                sequence: { groupOrder: 1 },
              },
            },
          ]
        : []),
    ],
  },
});
