/** Programs as channels: what they get, and that they do not outlive their time. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { WatchChannel } from "../../src/spec/watch-definition.ts";
import { openChannel } from "../../src/watchman/channels/open-channels.ts";
import { until } from "../support/until.ts";
import { temporaryFolder as folder, message } from "./channel-message.ts";

const open = (command: readonly string[], more: Partial<Extract<WatchChannel, { type: "exec" }>> = {}) =>
  openChannel({ name: "prog", type: "exec", timeoutMs: 5_000, folder: folder(), command, ...more });

test("the program gets the alert on standard input, in the folder of the watch file, without our environment", async () => {
  process.env.ESCAPEMENT_STORE_URL = "postgres://secret@host/db";
  onTestFinished(() => {
    delete process.env.ESCAPEMENT_STORE_URL;
  });
  const at = folder();
  const channel = open(["/bin/sh", "-c", "cat > got; env > env"], { folder: at });
  expect(await channel.send([message()])).toEqual({ accepted: true });
  expect(JSON.parse(readFileSync(join(at, "got"), "utf8"))).toMatchObject({
    kind: "alert",
    alert: { key: "late:1" },
  });
  expect(readFileSync(join(at, "env"), "utf8")).not.toMatch(/ESCAPEMENT/);
});

test("its words are the reason when it fails, without what looks like a secret", async () => {
  const answer = await open(["/bin/sh", "-c", "echo token=abc no line >&2; exit 3"]).send([message()]);
  expect(answer).toEqual({ accepted: false, rejected: false, reason: "exit 3: token=*** no line" });
});

test("one that reads nothing, and one that is not there, are told apart", async () => {
  expect(await open(["/bin/true"]).send([message({ message: "x".repeat(1_000_000) })])).toEqual({
    accepted: true,
  });
  expect(await open(["/nonexistent"]).send([message()])).toMatchObject({
    accepted: false,
    reason: expect.stringMatching(/ENOENT/),
  });
});

test("after its time it is killed with everything that it started", async () => {
  const at = folder();
  const channel = open(["/bin/sh", "-c", "sleep 60 & echo $! > child; wait"], {
    folder: at,
    timeoutMs: 500,
  });
  expect(await channel.send([message()])).toEqual({
    accepted: false,
    rejected: false,
    reason: "killed after 500 ms",
  });
  const child = readFileSync(join(at, "child"), "utf8").trim();
  await until(
    () => !existsSync(`/proc/${child}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${child}/status`, "utf8")),
    {
      what: "the child of the program to end",
    },
  );
});
