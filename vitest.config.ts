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
          exclude: ["test/torture/**"],
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
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
