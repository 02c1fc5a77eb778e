/** Keys and signatures, judged by OpenSSH's own program. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { makeDrillKey, readDrillKey } from "../../../src/chaos/host/drill-key.ts";
import { sshSignature } from "../../../src/chaos/host/ssh-signature.ts";

const folder = mkdtempSync(join(tmpdir(), "escapement-drill-key-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function verdict(text: string, signed: string, namespace: string): Promise<number | null> {
  const key = await readDrillKey(join(folder, "key"));
  const signature = join(folder, "signature");
  const signers = join(folder, "signers");
  writeFileSync(signature, sshSignature(signed, key, "escapement-drill"));
  writeFileSync(signers, `escapement-drill namespaces="escapement-drill" ${key.publicKey}\n`);
  const words = ["-Y", "verify", "-f", signers, "-I", "escapement-drill", "-n", namespace, "-s", signature];
  return spawnSync("ssh-keygen", words, { input: text }).status;
}

describe("the drill key", () => {
  test("ssh-keygen reads it, and finds the same public key", async () => {
    const key = await makeDrillKey(join(folder, "key"));
    expect(statSync(key.file).mode & 0o777).toBe(0o600);
    const derived = execFileSync("ssh-keygen", ["-y", "-f", key.file], { encoding: "utf8" });
    expect(derived.trim()).toBe(key.publicKey);
    expect(readFileSync(`${key.file}.pub`, "utf8").trim()).toBe(key.publicKey);
    expect(await readDrillKey(join(folder, "key"))).toMatchObject({
      file: key.file,
      publicKey: key.publicKey,
    });
  });

  test("it is never made twice", async () => {
    await expect(makeDrillKey(join(folder, "key"))).rejects.toMatchObject({ code: "E_REFUSED" });
  });

  test("a key of ssh-keygen does as well", async () => {
    const file = join(folder, "other");
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "someone", "-f", file]);
    const words = readFileSync(`${file}.pub`, "utf8").trim().split(" ");
    expect((await readDrillKey(file)).publicKey.split(" ")[1]).toBe(words[1]);
  });

  test.each<[string, (file: string) => void, RegExp]>([
    [
      "with a passphrase",
      (file) => execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "secret", "-f", file]),
      /passphrase/,
    ],
    [
      "of another kind",
      (file) => execFileSync("ssh-keygen", ["-q", "-t", "ecdsa", "-N", "", "-f", file]),
      /not an ed25519/,
    ],
    ["that is none", (file) => writeFileSync(file, "nothing\n", { mode: 0o600 }), /no private key/],
    [
      "cut short",
      (file) => {
        const text = readFileSync(join(folder, "key", "drill_ed25519"), "utf8");
        writeFileSync(file, `${text.slice(0, 120)}\n-----END OPENSSH PRIVATE KEY-----\n`, { mode: 0o600 });
      },
      /ends in the middle/,
    ],
    [
      "that others may read",
      (file) => {
        execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file]);
        chmodSync(file, 0o640);
      },
      /others than its owner/,
    ],
  ])("a key %s is refused", async (_, makeIt, why) => {
    const file = join(mkdtempSync(join(folder, "bad-")), "key");
    makeIt(file);
    await expect(readDrillKey(file)).rejects.toThrow(why);
  });
});

test("ssh-keygen accepts the signature of the text, and of nothing else", async () => {
  expect(await verdict("one\ntwo\n", "one\ntwo\n", "escapement-drill")).toBe(0);
  expect(await verdict("one\ntwo \n", "one\ntwo\n", "escapement-drill")).not.toBe(0);
  expect(await verdict("", "", "escapement-drill")).toBe(0);
  expect(await verdict("one\n", "one\n", "file")).not.toBe(0);
});
