/** The promise of src/lab/tether.ts, with a real parent that is really killed. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { spawnTethered } from "../../src/lab/tether.ts";
import { startProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

vi.setConfig({ testTimeout: 120_000 });

// Inside the checkout, as the product's bundle is: the fetched PostgreSQL is looked for from there.
const parentProgram = fileURLToPath(
  new URL(`../../node_modules/.cache/escapement/run/tether-${process.pid}.mjs`, import.meta.url),
);

beforeAll(async () => {
  await build({
    stdin: {
      contents: `
        import { startPostgres } from "./src/lab/postgres.ts";
        import { spawnTethered } from "./src/lab/tether.ts";
        const server = await startPostgres();
        const stubborn = await spawnTethered({
          command: ["/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done"],
          environment: process.env, orphanSignal: "TERM",
        });
        console.log(JSON.stringify({ server: server.pid, directory: server.directory, stubborn: stubborn.pid }));
        setInterval(() => {}, 1000);
      `,
      resolveDir: fileURLToPath(new URL("../..", import.meta.url)),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["pg-native"],
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
    outfile: parentProgram,
  });
});
afterAll(() => rmSync(parentProgram, { force: true }));

/** False for a zombie, too: nobody reaps orphans in some containers. */
function alive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test.skipIf(!existsSync("/proc/self/status"))(
  "when the parent is killed with SIGKILL, its server, its data and a child that ignores SIGTERM are gone",
  async () => {
    const parent = await startProcess([process.execPath, parentProgram]);
    const [line] = await parent.seen(/\{.*\}/);
    const { server, directory, stubborn } = JSON.parse(line) as {
      server: number;
      directory: string;
      stubborn: number;
    };
    expect(alive(server) && alive(stubborn) && existsSync(directory)).toBe(true);
    parent.kill("SIGKILL");
    await parent.exited;
    await until(() => !alive(server), { what: "the end of the server" });
    await until(() => !alive(stubborn), { what: "the end of the stubborn child" });
    await until(() => !existsSync(directory), { what: "the removal of the data folder" });
  },
);

test.skipIf(!existsSync("/proc/self/status"))("while the parent is frozen its children go on", async () => {
  const parent = await startProcess([process.execPath, parentProgram]);
  const [line] = await parent.seen(/\{.*\}/);
  const { server } = JSON.parse(line) as { server: number };
  parent.kill("SIGSTOP");
  await until(() => /^State:\s+T/m.test(readFileSync(`/proc/${parent.pid}/status`, "utf8")), {
    what: "the stop",
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(alive(server)).toBe(true);
  parent.kill("SIGCONT");
  parent.kill("SIGTERM");
  await until(() => !alive(server), { what: "the end of the server" });
});

test("the end of a child is told exactly: code or signal", async () => {
  const environment = process.env;
  const coded = await spawnTethered({ command: ["/bin/sh", "-c", "exit 7"], environment });
  expect(await coded.exited).toEqual({ code: 7, signal: null });
  expect(coded.kill("SIGTERM")).toBe(false);
  const killed = await spawnTethered({ command: ["/bin/sh", "-c", "sleep 60"], environment });
  expect(killed.exit).toBeUndefined();
  killed.kill("SIGINT");
  expect(await killed.exited).toEqual({ code: null, signal: "SIGINT" });
});

test("a program that does not exist is an error that names it", async () => {
  await expect(spawnTethered({ command: ["/nowhere/at-all"], environment: {} })).rejects.toMatchObject({
    code: "E_UNAVAILABLE",
    message: expect.stringContaining("/nowhere/at-all"),
  });
});
