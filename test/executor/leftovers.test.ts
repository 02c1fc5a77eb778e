import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { findMarked, killMarked } from "../../src/executor/leftovers.ts";
import { isRunning } from "./process-state.ts";

/** How often a process still looks as the kernel shows it between two programs; nobody can hold one there. */
const changing = new Map<number, number>();

vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  const readFileSync = (path: string, encoding: BufferEncoding) => {
    const [, pid, file] = /^\/proc\/(\d+)\/(environ|stat)$/.exec(path) ?? [];
    const left = changing.get(Number(pid)) ?? 0;
    if (left === 0) return real.readFileSync(path, encoding);
    if (file === "environ") return "";
    changing.set(Number(pid), left - 1);
    const fields = real.readFileSync(path, encoding).split(" ");
    // Counted from the end, as the name may hold blanks: the environment's end is the last but one of 52.
    fields[fields.length - 2] = "0";
    return fields.join(" ");
  };
  return { ...real, readFileSync };
});

const mark = ["LEFTOVER_TEST=yes", `LEFTOVER_RUN=${process.pid}`];
const started: ChildProcess[] = [];

async function child(environment: Record<string, string>): Promise<{ pid: number; ended: Promise<unknown> }> {
  const one = spawn("sleep", ["60"], { env: environment, stdio: "ignore" });
  started.push(one);
  const ended = once(one, "exit");
  await once(one, "spawn");
  return { pid: one.pid!, ended };
}
const marked = () => child({ LEFTOVER_TEST: "yes", LEFTOVER_RUN: String(process.pid), OTHER: "x" });

afterEach(() => {
  changing.clear();
  for (const one of started.splice(0)) one.kill("SIGKILL");
});

test("finds what carries every entry of the mark, and nothing else", async () => {
  const { pid } = await marked();
  await child({ LEFTOVER_TEST: "yes" });
  await child({ LEFTOVER_TEST: "yes", LEFTOVER_RUN: `${process.pid}0` });
  expect(findMarked(mark)).toEqual({ marked: [pid], unclear: [] });
});

test("looks again at a process that is changing its program, and kills it once its mark is seen", async () => {
  const { pid, ended } = await marked();
  changing.set(pid, 5);
  expect(await killMarked(mark, 2_000)).toEqual({ killed: [pid], left: [] });
  await ended;
});

test("does not keep one that is seen waiting for one that is not", async () => {
  const [seen, unseen] = [await marked(), await marked()];
  changing.set(unseen.pid, Number.POSITIVE_INFINITY);
  const killing = killMarked(mark, 60_000);
  await seen.ended;
  changing.delete(unseen.pid);
  expect(await killing).toEqual({ killed: [seen.pid, unseen.pid], left: [] });
});

test("says that it cannot tell where a process never shows its mark, and leaves that alone", async () => {
  const { pid } = await marked();
  changing.set(pid, Number.POSITIVE_INFINITY);
  expect(await killMarked(mark, 100)).toEqual({ killed: [], left: [pid] });
  expect(isRunning(pid)).toBe(true);
});

test("does not wait for a process that has no environment at all", async () => {
  await child({});
  expect(await killMarked(mark, 60_000)).toEqual({ killed: [], left: [] });
});
