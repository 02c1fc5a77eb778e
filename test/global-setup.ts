/**
 * Runs once before all tests: builds the bundle, because the processes that tests
 * start must be the code under test, and starts one PostgreSQL server for all of
 * them; `freshDatabase` in test/support/database.ts hands out databases on it.
 */
import { execFileSync } from "node:child_process";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../src/lab/postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Superuser URL of the server that all tests share. */
    postgresUrl: string;
  }
}

/** Tests look at what the database says, not at what survives a power cut; the lab's own tests start safer servers. */
const settings = {
  max_connections: "200",
  shared_buffers: "128MB",
  fsync: "off",
  full_page_writes: "off",
  autovacuum_naptime: "5s",
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  build();
  const server = await startPostgres({ settings });
  project.provide("postgresUrl", server.url);
  return () => server.remove();
}

function build(): void {
  try {
    execFileSync(process.execPath, ["scripts/build.mjs", "--quiet"], { stdio: "inherit" });
  } catch {
    if (process.env.ESCAPEMENT_REQUIRE_ALL === "1") throw new Error("the bundle could not be built");
    console.error(
      "warning: the bundle could not be built; tests that start the program use an old one or fail",
    );
  }
}
