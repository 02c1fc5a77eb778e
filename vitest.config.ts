import { readFile } from "node:fs/promises";
import { defineConfig } from "vitest/config";

/** Turns `import sql from "./x.sql"` into the file's text, as the bundle does. */
const sqlAsText = {
  name: "sql-as-text",
  enforce: "pre" as const,
  async load(id: string) {
    if (!id.endsWith(".sql")) return null;
    return `export default ${JSON.stringify(await readFile(id, "utf8"))}`;
  },
};

export default defineConfig({
  plugins: [sqlAsText],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/global-setup.ts"],
    // These limits only stop a hang; machines are slow and shared at times.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    pool: "forks",
  },
});
