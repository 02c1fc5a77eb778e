/** What a child reports, and what it may ask. */

import { rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { shardOf } from "../../src/spec/shard-of.ts";
import { until } from "../support/until.ts";
import { Workshop } from "./workshop.ts";

const program = fileURLToPath(new URL("../../bin/escapement.mjs", import.meta.url));
const report = `${process.execPath} ${program} report`;

test("rows and checkpoints from a shell; the next attempt goes on from the checkpoint", async () => {
  const workshop = await Workshop.open();
  const seen = workshop.path("seen");
  await workshop.job(
    "counting",
    `set -e
     echo "attempt $ESCAPEMENT_ATTEMPT from [$(${report} --get checkpoint)]" >> ${seen}
     ${report} --holding && echo holding >> ${seen}
     if [ "$ESCAPEMENT_ATTEMPT" = 1 ]; then ${report} --rows 40 --checkpoint 'order 40'; exit 1; fi
     ${report} --rows 90; ${report} --rows 100 --log 'all done'`,
  );
  await workshop.executor();
  const run = await workshop.run("counting");
  await workshop.ended(run);
  expect(workshop.lines("seen")).toEqual([
    "attempt 1 from []",
    "holding",
    "attempt 2 from [order 40]",
    "holding",
  ]);
  const [shard] = await workshop.shards(run);
  expect(shard!.rows).toBe(100);
  expect(workshop.jobLog("counting")).toMatch(/ attempt=2 log \| all done$/m);
  const { rows } = await workshop.db.query("SELECT * FROM escapement.shard_checkpoint");
  expect(rows).toEqual([]);
});

test("keys: enumerated ones by hash, heavy ones alone; for shards by hash only the heavy ones are known", async () => {
  const workshop = await Workshop.open({ slots: { cpu: 8, memory: 1, io: 1 } });
  const keys = ["ape", "bee", "cat", "dog", "elk", "fox"];
  const script = `${report} --get keys > ${workshop.folder}/$ESCAPEMENT_JOB_NAME.$ESCAPEMENT_SHARD_NO || echo "refused $?" > ${workshop.folder}/$ESCAPEMENT_JOB_NAME.$ESCAPEMENT_SHARD_NO
    echo "$ESCAPEMENT_SHARD_NO hash=$ESCAPEMENT_HASH_SHARDS heavy=$ESCAPEMENT_HEAVY_KEYS key=$ESCAPEMENT_SHARD_KEY count=$ESCAPEMENT_SHARD_COUNT" >> ${workshop.folder}/$ESCAPEMENT_JOB_NAME.env`;
  // The name of the job's file comes from a variable of its own; ESCAPEMENT_JOB contains a slash.
  await workshop.job("listed", script.replaceAll("$ESCAPEMENT_JOB_NAME", "listed"), {
    shards: { by: "keys", count: 2, keys, heavy: ["dog"] },
  });
  await workshop.job("hashed", script.replaceAll("$ESCAPEMENT_JOB_NAME", "hashed"), {
    shards: { by: "hash", count: 2, key: "animal", heavy: ["dog", "fox"] },
  });
  await workshop.executor();
  for (const name of ["listed", "hashed"]) await workshop.ended(await workshop.run(name));
  const light = keys.filter((key) => key !== "dog");
  for (const shard of [0, 1])
    expect(workshop.lines(`listed.${shard}`)).toEqual(light.filter((key) => shardOf(key, 2) === shard));
  expect(workshop.lines("listed.2")).toEqual(["dog"]);
  expect(workshop.lines("hashed.0")).toEqual(["refused 4"]);
  expect(workshop.lines("hashed.3")).toEqual(["fox"]);
  expect(workshop.lines("hashed.env").sort()).toEqual([
    '0 hash=2 heavy=["dog","fox"] key= count=4',
    '1 hash=2 heavy=["dog","fox"] key= count=4',
    "2 hash=2 heavy= key=dog count=4",
    "3 hash=2 heavy= key=fox count=4",
  ]);
});

test("input is frozen before the first shard runs", async () => {
  const workshop = await Workshop.open();
  await workshop.job("frozen", `${report} --get keys >> ${workshop.path("done")}`, {
    shards: {
      by: "frozen",
      count: 3,
      freeze: ["/bin/sh", "-c", "seq -f 'key %g' 1 50; printf 'key 1\\r\\n\\nlast'"],
    },
  });
  await workshop.executor();
  const run = await workshop.run("frozen");
  await workshop.ended(run);
  const expected = [...Array.from({ length: 50 }, (_, i) => `key ${i + 1}`), "last"];
  expect(workshop.lines("done").sort()).toEqual(expected.sort());
  expect((await workshop.shards(run)).map(({ shardNo, status }) => [shardNo, status])).toEqual(
    [-1, 0, 1, 2, 3].slice(0, 4).map((shardNo) => [shardNo, "success"]),
  );
});

test("a freezing step that prints nonsense fails the execution, and no shard runs", async () => {
  const workshop = await Workshop.open();
  await workshop.job("nonsense", `touch ${workshop.path("ran")}`, {
    shards: { by: "frozen", count: 2, freeze: ["/bin/sh", "-c", "head -c 2000 /dev/zero | tr '\\0' x"] },
    retry: { maxAttempts: 1, delaysMs: [10] },
  });
  await workshop.executor();
  const run = await workshop.run("nonsense");
  await workshop.ended(run, "failed");
  expect((await workshop.attempts(run))[0]!.error).toBe("the freezing step line 1 is longer than 1000 bytes");
  expect(workshop.lines("ran")).toEqual([]);
});

test("without the capability the socket tells nothing; a removed socket is made again", async () => {
  const workshop = await Workshop.open();
  await workshop.job(
    "socket",
    `echo "$ESCAPEMENT_SOCKET" > ${workshop.path("address")}
     while [ ! -e ${workshop.path("go")} ]; do sleep 0.05; done; ${report} --rows 7`,
  );
  const executor = await workshop.executor();
  const run = await workshop.run("socket");
  const address = await until(() => workshop.lines("address")[0], { what: "the address" });
  const [path, token] = address.split("?token=") as [string, string];
  expect(await talk(path, ['{"rows":1}', '{"token":"guess"}', '{"rows":1}', "{", '{"rows":-1}'])).toEqual([
    { ok: false, error: 'first send {"token":"…"}' },
    { ok: false, error: "no attempt with this token runs here" },
    { ok: false, error: 'first send {"token":"…"}' },
    { ok: false, error: expect.stringMatching(/JSON/) },
    { ok: false, error: 'first send {"token":"…"}' },
  ]);
  expect(await talk(path, [`{"token":"${token}"}`, '{"rows":-1}', '{"hold":true}'])).toEqual([
    { ok: true },
    { ok: false, error: "not a request that I know" },
    { ok: true, held: true, trustedForMs: expect.any(Number) },
  ]);
  rmSync(dirname(path), { recursive: true });
  await executor.seen(/report socket was removed; made it again/);
  rmSync(workshop.path("work"), { recursive: true, force: true });
  writeFileSync(workshop.path("go"), "");
  await workshop.ended(run);
  expect((await workshop.shards(run))[0]!.rows).toBe(7);
});

/** Sends lines, waits for as many answers. */
function talk(path: string, lines: readonly string[]): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    let text = "";
    socket.setEncoding("utf8").on("error", reject);
    socket.on("data", (piece: string) => {
      text += piece;
      const answers = text.split("\n").slice(0, -1);
      if (answers.length < lines.length) return;
      socket.destroy();
      resolve(answers.map((line) => JSON.parse(line) as unknown));
    });
    socket.write(lines.map((line) => `${line}\n`).join(""));
  });
}
