/** What every Remote does, whichever it is. Each implementation hands in a way to connect and runs all of it. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isEscapementError } from "../../src/base/errors.ts";
import type { Remote } from "../../src/remote/remote.ts";

export interface Subject {
  connect(): Promise<Remote>;
}

const deadlineMs = 20_000;
const sumOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** The code of what a promise rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (isEscapementError(error)) return error.code;
    throw error;
  }
  return "no error";
}

export function conformance(name: string, subject: () => Subject): void {
  describe(`${name}: what every way to a host does`, () => {
    let remote: Remote;
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "escapement-conformance-"));
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    afterEach(() => remote?.close());
    const connect = async () => {
      remote = await subject().connect();
      return remote;
    };

    test("runs a command and returns what it wrote", async () => {
      const result = await (await connect()).exec({
        argv: ["sh", "-c", "printf %s out; printf %s err >&2"],
        deadlineMs,
      });
      expect(result).toMatchObject({ exitCode: 0, stdout: "out", stderr: "err", truncated: false });
      expect(result.durationMs).toBeGreaterThanOrEqual(0);
    });

    test("a non-zero exit is a result", async () => {
      await connect();
      expect(await remote.exec({ argv: ["sh", "-c", "exit 7"], deadlineMs })).toMatchObject({ exitCode: 7 });
      expect(await remote.exec({ argv: ["false"], deadlineMs })).toMatchObject({ exitCode: 1 });
      const missing = await remote.exec({ argv: ["no-such-program-here"], deadlineMs });
      expect(missing.exitCode).toBe(127);
      expect(missing.stderr).not.toBe("");
    });

    test("a command that ends by a signal says which", async () => {
      const result = await (await connect()).exec({ argv: ["sh", "-c", "kill -KILL $$"], deadlineMs });
      expect(result).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    });

    test.each<[string, string]>([
      ["spaces and quotes", `a  'b' "c" \\ \`d\``],
      ["what shells expand", "$HOME $PATH: $(id) ~ * ? [a-z] {a,b} !! !x %1 #c"],
      ["operators", "; & && | || < > >> ( ) 2>&1"],
      ["lines", "first\nsecond\n\n  third\r\n\ttabbed"],
      ["nothing", ""],
      ["other scripts", "größe 结算 🕰 \u200b"],
      ["control characters", "\u0001\u001b[31m\u007f"],
      ["what printf reads", "%s %d %% \\n \\0101 \\x41"],
      ["a dash in front", "-n"],
    ])("an argument arrives as it is: %s", async (_, word) => {
      const result = await (await connect()).exec({ argv: ["printf", "%s|", "a", word, "z"], deadlineMs });
      expect(result.stdout).toBe(`a|${word}|z|`);
    });

    test("input arrives whole and ends", async () => {
      await connect();
      const text = `first line\n${"x".repeat(300_000)}\nlast`;
      expect((await remote.exec({ argv: ["cat"], stdin: text, deadlineMs })).stdout).toBe(text);
      const bytes = new TextEncoder().encode("größe");
      expect((await remote.exec({ argv: ["cat"], stdin: bytes, deadlineMs })).stdout).toBe("größe");
      expect((await remote.exec({ argv: ["cat"], deadlineMs })).stdout).toBe("");
    });

    test("a command that does not read its input still ends", async () => {
      const stdin = "x".repeat(2_000_000);
      const result = await (await connect()).exec({ argv: ["true"], stdin, deadlineMs });
      expect(result.exitCode).toBe(0);
    });

    test("a dialogue hears what the command says to what it wrote", async () => {
      const pieces: string[] = [];
      const words = ["one\n", "größe\n", "x".repeat(100_000), null];
      // The next word once all of the last has come back, in however many pieces.
      let [expected, heard] = ["", ""];
      const dialogue = (piece: string) => {
        pieces.push(piece);
        heard += piece;
        if (heard !== expected) return "";
        const word = words.shift()!;
        expected += word ?? "";
        return word;
      };
      const result = await (await connect()).exec({ argv: ["cat"], dialogue, deadlineMs });
      expect(result).toMatchObject({ exitCode: 0, stdout: expected });
      expect(words).toEqual([]);
      expect(pieces.slice(0, 3)).toEqual(["", "one\n", "größe\n"]);
      expect(pieces.slice(1)).not.toContain("");
    });

    test("a dialogue may only listen, and is told what is beyond the limit", async () => {
      await connect();
      let heard = "";
      const listen = (piece: string) => {
        heard += piece;
        return "";
      };
      const argv = ["printf", "%s", "0123456789"];
      const result = await remote.exec({ argv, dialogue: listen, deadlineMs, maxOutputBytes: 4 });
      expect(result).toMatchObject({ exitCode: 0, stdout: "0123", truncated: true });
      expect(heard).toBe("0123456789");
    });

    test("a dialogue with a command that does not read ends with it, with its exit code", async () => {
      await connect();
      const argv = ["sh", "-c", "exit 7"];
      for (const answer of ["anybody?\n", "", null])
        expect(await remote.exec({ argv, dialogue: () => answer, deadlineMs })).toMatchObject({
          exitCode: 7,
          stdout: "",
        });
    });

    test("a dialogue in which nobody says any more ends with the time", async () => {
      await connect();
      let calls = 0;
      const dialogue = () => (calls++ === 0 ? "one\n" : "");
      expect(await codeOf(remote.exec({ argv: ["cat"], dialogue, deadlineMs: 700 }))).toBe("E_HOST_TIMEOUT");
      expect(calls).toBeLessThanOrEqual(2);
    });

    test("what a dialogue throws ends the command, and the connection goes on", async () => {
      await connect();
      const wrong = new Error("not what I expected");
      const dialogue = (piece: string) => {
        if (piece !== "") throw wrong;
        return "one\n";
      };
      await expect(remote.exec({ argv: ["cat"], dialogue, deadlineMs })).rejects.toBe(wrong);
      expect((await remote.exec({ argv: ["echo", "still here"], deadlineMs })).stdout).toBe("still here\n");
    });

    test("output beyond the limit is dropped, and it says so", async () => {
      await connect();
      const stdin = "0123456789".repeat(20_000);
      const result = await remote.exec({ argv: ["cat"], stdin, deadlineMs, maxOutputBytes: 1000 });
      expect(result).toMatchObject({ exitCode: 0, truncated: true, stdout: stdin.slice(0, 1000) });
    });

    test("twenty commands at once all end with their own answers", async () => {
      await connect();
      const words = Array.from({ length: 20 }, (_, i) => `word${i}`);
      const results = await Promise.all(
        words.map((word) => remote.exec({ argv: ["echo", word], deadlineMs })),
      );
      expect(results.map(({ stdout }) => stdout.trim())).toEqual(words);
    });

    test("a command that takes too long is an error, and the connection goes on", async () => {
      await connect();
      expect(await codeOf(remote.exec({ argv: ["sleep", "30"], deadlineMs: 700 }))).toBe("E_HOST_TIMEOUT");
      expect((await remote.exec({ argv: ["echo", "still here"], deadlineMs })).stdout).toBe("still here\n");
    });

    test("puts bytes into a file with its mode, in place of what was there", async () => {
      await connect();
      const path = join(folder, "a file's name");
      for (const [text, mode] of [
        ["first\n", 0o644],
        ["second: \u0000 größe\n", 0o750],
      ] as const) {
        const bytes = new TextEncoder().encode(text);
        await remote.upload({ content: { bytes }, path, mode, sha256: sumOf(bytes), deadlineMs });
        expect((await remote.exec({ argv: ["cat", path], deadlineMs })).stdout).toBe(text);
        const { stdout } = await remote.exec({ argv: ["stat", "-c", "%a", path], deadlineMs });
        expect(stdout.trim()).toBe(mode.toString(8));
      }
    });

    test("puts a larger file, and the host's sum is right", async () => {
      await connect();
      const bytes = Buffer.alloc(3_000_001, "escapement ");
      const file = join(folder, "source");
      writeFileSync(file, bytes);
      const path = join(folder, "target");
      await remote.upload({ content: { file }, path, mode: 0o600, sha256: sumOf(bytes), deadlineMs });
      const { stdout } = await remote.exec({ argv: ["sha256sum", path], deadlineMs });
      expect(stdout.split(" ")[0]).toBe(sumOf(bytes));
    });

    test("a file that arrives with another sum never takes its place", async () => {
      await connect();
      const path = join(folder, "kept");
      const old = new TextEncoder().encode("old");
      await remote.upload({ content: { bytes: old }, path, mode: 0o600, sha256: sumOf(old), deadlineMs });
      const bytes = new TextEncoder().encode("new");
      const wrong = remote.upload({ content: { bytes }, path, mode: 0o600, sha256: sumOf(old), deadlineMs });
      expect(await codeOf(wrong)).toBe("E_HOST_UPLOAD");
      expect((await remote.exec({ argv: ["cat", path], deadlineMs })).stdout).toBe("old");
    });

    test("a file to send that is not there, and a path that is not absolute, are told", async () => {
      await connect();
      const sha256 = sumOf(new Uint8Array());
      const nowhere = { content: { file: join(folder, "nowhere") }, path: join(folder, "x"), mode: 0o600 };
      expect(await codeOf(remote.upload({ ...nowhere, sha256, deadlineMs }))).toBe("E_HOST_UPLOAD");
      const relative = { content: { bytes: new Uint8Array() }, path: "x", mode: 0o600 };
      expect(await codeOf(remote.upload({ ...relative, sha256, deadlineMs }))).toBe("E_HOST_UPLOAD");
    });

    test("closing ends what runs, and can be done twice", async () => {
      await connect();
      const running = codeOf(remote.exec({ argv: ["sleep", "30"], deadlineMs: 60_000 }));
      await (await subject().connect()).close();
      await remote.close();
      await remote.close();
      expect(await running).toBe("E_HOST_LOST");
      expect(await codeOf(remote.exec({ argv: ["true"], deadlineMs }))).toBe("E_HOST_LOST");
    });
  });
}
