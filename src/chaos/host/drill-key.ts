/**
 * The key of whoever may begin drills: it logs in as escapement-drill, and it
 * signs orders. Ed25519, in OpenSSH's own file format, readable by its owner.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { publicKeyBlob, sshString } from "./ssh-signature.ts";

export interface DrillKey {
  /** Path of the private key, for ssh. */
  readonly file: string;
  /** `ssh-ed25519 AAAA… comment`: what a host is told. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
  readonly publicRaw: Uint8Array;
}

const fileName = "drill_ed25519";
const comment = "escapement-drill";
const format = "openssh-key-v1\0";
/** What stands before the 32 bytes of an ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8Head = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Makes a key in `folder` (made with mode 0700): drill_ed25519, and beside it the public one.
 * @throws E_REFUSED where there is one already: hosts know it; E_BAD_DATA where it cannot be written
 */
export async function makeDrillKey(folder: string): Promise<DrillKey> {
  const file = join(folder, fileName);
  const { privateKey } = generateKeyPairSync("ed25519");
  const seed = Buffer.from(privateKey.export({ format: "jwk" }).d as string, "base64url");
  const publicRaw = Buffer.from(privateKey.export({ format: "jwk" }).x as string, "base64url");
  const publicKey = `${publicKeyLine(publicRaw)} ${comment}`;
  try {
    makeFolder(folder, 0o700);
    await writeFile(file, privateKeyFile(seed, publicRaw), { mode: 0o600, flag: "wx" });
    await writeFile(`${file}.pub`, `${publicKey}\n`, { mode: 0o644 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      throw new EscapementError(
        "E_BAD_DATA",
        { what: `cannot write ${file}: ${messageOf(error)}`, hint: "check the folder and its permissions" },
        { cause: error },
      );
    throw new EscapementError("E_REFUSED", {
      what: `there is a drill key already: ${file}`,
      hint: "use it, or take it away and tell every host of the new one with escapement apply",
    });
  }
  return { file, publicKey, privateKey, publicRaw };
}

/** @param file the private key, or the folder it was made in. @throws E_FILE_UNREADABLE */
export async function readDrillKey(file: string): Promise<DrillKey> {
  try {
    const path = (await stat(file)).isDirectory() ? join(file, fileName) : file;
    if (((await stat(path)).mode & 0o077) !== 0)
      throw new Error("others than its owner may read it; chmod 600 takes that away");
    const seed = seedOf(await readFile(path, "utf8"));
    const privateKey = createPrivateKey({
      key: Buffer.concat([pkcs8Head, seed]),
      format: "der",
      type: "pkcs8",
    });
    const publicRaw = Buffer.from(privateKey.export({ format: "jwk" }).x as string, "base64url");
    return { file: path, publicKey: `${publicKeyLine(publicRaw)} ${comment}`, privateKey, publicRaw };
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
}

function publicKeyLine(raw: Uint8Array): string {
  return `ssh-ed25519 ${publicKeyBlob(raw).toString("base64")}`;
}

function privateKeyFile(seed: Buffer, publicRaw: Buffer): string {
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    publicKeyBlob(publicRaw),
    sshString(Buffer.concat([seed, publicRaw])),
    sshString(comment),
  ]);
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, i) => i + 1));
  const blob = Buffer.concat([
    Buffer.from(format),
    sshString("none"),
    sshString("none"),
    sshString(""),
    Buffer.from([0, 0, 0, 1]),
    sshString(publicKeyBlob(publicRaw)),
    sshString(Buffer.concat([secret, padding])),
  ]);
  const lines = blob.toString("base64").match(/.{1,70}/g) ?? [];
  return ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join(
    "\n",
  );
}

function seedOf(text: string): Buffer {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+?)-----END/.exec(text)?.[1];
  if (body === undefined) throw new Error("it is no private key in OpenSSH's format");
  const blob = Buffer.from(body.replace(/\s/g, ""), "base64");
  let at = format.length;
  const next = (from: Buffer): Buffer => {
    const length = at + 4 <= from.length ? from.readUInt32BE(at) : Number.POSITIVE_INFINITY;
    if (at + 4 + length > from.length) throw new Error("it ends in the middle");
    at += 4 + length;
    return from.subarray(at - length, at);
  };
  if (!blob.subarray(0, at).equals(Buffer.from(format))) throw new Error("its format is unknown");
  if (next(blob).toString() !== "none") throw new Error("it has a passphrase, which a timetable cannot type");
  next(blob);
  next(blob);
  at += 4;
  next(blob);
  const secret = next(blob);
  at = 8;
  if (next(secret).toString() !== "ssh-ed25519") throw new Error("it is not an ed25519 key");
  next(secret);
  return next(secret).subarray(0, 32);
}
