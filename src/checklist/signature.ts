/**
 * Signs a report with an Ed25519 key, and says whether a signature is right.
 * What is signed is the canonical JSON of everything but the signature, behind
 * a word of our own, so that it cannot pass as a signature of anything else.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { EscapementError, messageOf } from "../base/errors.ts";
import { canonicalJson } from "../spec/digest.ts";
import type { ChecklistReport } from "./report-schema.ts";

const context = "escapement-checklist-report/1\n";

/** A new pair, PEM: PKCS #8 and SubjectPublicKeyInfo. */
export function generateKeys(): { readonly privatePem: string; readonly publicPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privatePem: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    publicPem: publicKey.export({ type: "spki", format: "pem" }) as string,
  };
}

/** @throws E_BAD_VALUE when the text is no Ed25519 private key */
export function signReport(report: ChecklistReport, privatePem: string): ChecklistReport {
  const key = keyOf(privatePem, "--sign", createPrivateKey);
  const { signature: _, ...content } = report;
  return {
    ...content,
    signature: {
      algorithm: "ed25519",
      key: fingerprint(createPublicKey(key)),
      value: sign(null, signedBytes(content), key).toString("base64"),
    },
  };
}

/**
 * @param raw the report as it was parsed, with fields that this version does not know
 * @returns null when the signature is right, else why it is not
 * @throws E_BAD_VALUE when the text is no Ed25519 public key
 */
export function signatureProblem(raw: Record<string, unknown>, publicPem: string): string | null {
  const key = keyOf(publicPem, "--key", createPublicKey);
  const { signature, ...content } = raw;
  if (signature === undefined) return "the report is not signed";
  const { algorithm, key: by, value } = signature as Record<string, unknown>;
  if (algorithm !== "ed25519" || typeof value !== "string")
    return "its signature is of a kind that is not known";
  if (by !== fingerprint(key)) return `it is signed with another key: ${String(by).slice(0, 16)}…`;
  const right = verify(null, signedBytes(content), key, Buffer.from(value, "base64"));
  return right ? null : "it was changed after it was signed";
}

/** SHA-256 of the public key, hex. */
function fingerprint(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex");
}

function signedBytes(content: Record<string, unknown>): Buffer {
  return Buffer.from(context + canonicalJson(content));
}

function keyOf(pem: string, option: string, read: (pem: string) => KeyObject): KeyObject {
  const complain = (expected: string, cause?: unknown) =>
    new EscapementError(
      "E_BAD_VALUE",
      { option, value: "the file", expected, hint: "escapement checklist keygen makes a pair" },
      { cause },
    );
  let key: KeyObject;
  try {
    key = read(pem);
  } catch (error) {
    throw complain(`a key in PEM (${messageOf(error)})`, error);
  }
  if (key.asymmetricKeyType !== "ed25519") throw complain("an Ed25519 key");
  return key;
}
