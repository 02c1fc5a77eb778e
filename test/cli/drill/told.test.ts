/** What halt and plan say when something they need is wrong: what was done all the same, and what would be refused. */
import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { activeDrillHalt } from "../../../src/store/drill/drill-halt.ts";
import { beginDrillRun } from "../../../src/store/drill/drill-run.ts";
import { aDrillScene, db, deed, drill, folder, populate, storeUrl, withStore } from "./drill-scene.ts";

aDrillScene();

describe("halt with the store told and no way to the hosts", () => {
  test.each([
    ["no key", ["--key", "nowhere"], () => {}],
    [
      "a key that others may read",
      ["--key", "open-key"],
      () => {
        writeFileSync(join(folder, "open-key"), "x");
        chmodSync(join(folder, "open-key"), 0o644);
      },
    ],
    ["no inventory", ["-i", "nowhere.yaml"], () => {}],
    [
      "an inventory with a problem",
      ["-i", "wrong.yaml"],
      () => writeFileSync(join(folder, "wrong.yaml"), "apiVersion: escapement/v1\nkind: Inventory\n"),
    ],
  ])("%s: it says what it did, and why no more", async (_, args, prepare) => {
    prepare();
    const { code, stdout, stderr } = await withStore("halt", ...deed, ...args, "--json");
    expect([code, stderr]).toEqual([3, expect.anything()]);
    expect(JSON.parse(stdout)).toMatchObject({
      hosts: [],
      hostsError: expect.stringMatching(/cannot read|problem/),
      store: { recorded: true, error: null },
    });
    expect(await activeDrillHalt(db)).toMatchObject({ person: "tester" });
    const text = await withStore("halt", ...deed, ...args);
    expect(text.code).toBe(3);
    expect(text.stdout).toMatch(/no host was told, .*: .*(cannot read|problem)/);
    expect(text.stdout).toContain("drills were halted before");
  });

  test("with neither, nothing was done, and that is not partial", async () => {
    const args = ["halt", "--key", "nowhere", "--url", "postgres://nobody@127.0.0.1:1/none", "--json"];
    const { code, stdout } = await drill(...args);
    expect(code).toBe(69);
    expect(JSON.parse(stdout)).toMatchObject({ hosts: [], store: { recorded: null } });
  });
});

describe("plan ends with 4", () => {
  test("while drills are halted", async () => {
    await populate();
    expect((await withStore("plan", "pause-executor")).code).toBe(0);
    await db.query("INSERT INTO escapement.drill_halt (person, reason) VALUES ('ann', 'real trouble')");
    const { code, stdout } = await withStore("plan", "pause-executor");
    expect([code, stdout]).toEqual([4, expect.stringMatching(/not so.*halted.*by ann: real trouble/s)]);
  });

  test("while another run is on", async () => {
    await populate();
    await beginDrillRun(
      db,
      {
        runId: "0b9d8a52-6a0f-4e1b-9d5c-1f2e3d4c5b6b",
        ...{ drill: "cut-network", class: "network-cut", digest: "d", trigger: "manual" as const },
        ...{ targets: [], person: "ann", version: "0", controller: "c" },
      },
      60_000,
    );
    const { code, stdout } = await withStore("plan", "pause-executor", "--json");
    expect(code).toBe(4);
    expect(JSON.parse(stdout).conditions).toContainEqual(
      expect.objectContaining({ ok: false, detail: expect.stringContaining("cut-network") }),
    );
    // Of a controller that is gone: a run would end it and go on.
    await db.query("UPDATE escapement.drill_run SET lease_until = clock_timestamp() - interval '1 s'");
    expect((await withStore("plan", "pause-executor")).code).toBe(0);
    // What its fault or its work may have done is no refusal before that is ended.
    await db.query("UPDATE escapement.executor SET cpu_slots = 0");
    const doubted = await withStore("plan", "pause-executor");
    expect([doubted.code, doubted.stdout]).toEqual([
      0,
      expect.stringMatching(/first +a run ends cut-network of ann.*in doubt +two executors live/s),
    ]);
    expect(doubted.stdout).not.toContain("A run would be refused");
  });
});

describe("a store that was named and does not answer is no plan without one", () => {
  test("it refuses", async () => {
    const { code, stderr } = await drill("plan", "pause-executor", "--url", "postgres://a@127.0.0.1:1/none");
    expect([code, stderr]).toEqual([69, expect.stringContaining("does not answer")]);
  });

  test("it takes the connection and is silent", async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    try {
      const url = `postgres://a@127.0.0.1:${port}/none`;
      expect((await drill("plan", "pause-executor", "--url", url)).code).toBe(69);
    } finally {
      server.close();
    }
  }, 120_000);
});

test("history of a class that there is not is a slip of the pen", async () => {
  const { code, stderr } = await withStore("history", "--class", "nonsense");
  expect([code, stderr]).toEqual([64, expect.stringContaining("executor-killed")]);
});

describe("no time to come to rest before the deadline", () => {
  test.each([
    ["run", ["--settle", "29m58s"], 64, "--settle: 29m58s is not short enough for settle.deadline"],
    ["run", ["--settle", "29m50s"], 4, "nothing was done"],
    ["run", ["--drills", "long-cut.yaml"], 65, "symmetric needs 30m8s to come to rest"],
    ["plan", ["--drills", "long-cut.yaml"], 65, "symmetric needs 30m8s to come to rest"],
  ])("%s %j", async (command, args, wanted, told) => {
    const text = readFileSync("chaos/cut-network.yaml", "utf8");
    writeFileSync(join(folder, "long-cut.yaml"), text.replace("atLeast: 30s", "atLeast: 15m"));
    const { code, stderr } = await drill(command, "cut-network", ...args);
    expect([code, stderr]).toEqual([wanted, expect.stringContaining(told)]);
  });
});

test("a login that may not see who follows the store: a drill of the store is refused, another is not for that", async () => {
  await populate();
  const login = `blind_${randomBytes(4).toString("hex")}`;
  await db.query(`CREATE ROLE ${login} LOGIN IN ROLE escapement_drill`);
  try {
    const url = new URL(storeUrl);
    url.username = login;
    const asLogin = (...args: string[]) => withStore(...args, "--url", url.href);
    const blind = /replication keeps up \(not looked at: this login may not see/;
    const run = (name: string) => asLogin("run", name, "--variant", "restarted", "--yes", "--port", "0");
    const [store, executor] = [await run("kill-store"), await run("kill-executor")];
    expect([store.code, executor.code]).toEqual([4, 4]);
    expect(store.stdout).toMatch(
      new RegExp(`must be so, and is not: .*${blind.source}.*store grant LOGIN --as drill`, "s"),
    );
    expect(executor.stdout).toMatch(new RegExp(`not seen.*${blind.source}`));
    expect(executor.stdout).not.toMatch(/must be so, and is not: .*replication/);
    expect((await asLogin("plan", "kill-executor")).code).toBe(0);
  } finally {
    await db.query(`DROP ROLE ${login}`);
  }
}, 120_000);
