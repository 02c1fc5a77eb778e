/** A host's public key as it goes over the wire, and the texts people compare. */
import { createHash } from "node:crypto";

/** The kinds of key a host may show, best first. SHA-1 signatures (ssh-rsa) are not among them. */
export const hostKeyAlgorithms = [
  "ssh-ed25519",
  "ecdsa-sha2-nistp256",
  "ecdsa-sha2-nistp384",
  "ecdsa-sha2-nistp521",
  "rsa-sha2-512",
  "rsa-sha2-256",
] as const;

export type HostKeyAlgorithm = (typeof hostKeyAlgorithms)[number];

/** The type that a key blob names itself, for example `ssh-ed25519`; undefined for something else than a key. */
export function keyTypeOf(blob: Uint8Array): string | undefined {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  if (bytes.length < 8) return undefined;
  const length = bytes.readUInt32BE(0);
  if (length === 0 || length > 64 || length + 4 >= bytes.length) return undefined;
  const type = bytes.toString("latin1", 4, 4 + length);
  return /^[a-zA-Z0-9@._-]+$/.test(type) ? type : undefined;
}

/** `SHA256:…` as ssh-keygen prints it. */
export function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
}

/** An RSA key of one type signs with several algorithms; all others are named as their type. */
export function algorithmsOfType(type: string): readonly HostKeyAlgorithm[] {
  if (type === "ssh-rsa") return ["rsa-sha2-512", "rsa-sha2-256"];
  return hostKeyAlgorithms.filter((algorithm) => algorithm === type);
}
