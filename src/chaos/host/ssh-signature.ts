/**
 * OpenSSH's signature of a text (PROTOCOL.sshsig), so that a host can check an
 * order with `ssh-keygen -Y verify` and needs nothing of ours for it.
 */
import { createHash, type KeyObject, sign } from "node:crypto";

const magic = "SSHSIG";
const algorithm = "ssh-ed25519";
const digest = "sha512";

/** A string of the ssh protocol: its length in four bytes, then itself. */
export function sshString(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** An ed25519 public key as ssh writes it, before base64. @param raw 32 bytes */
export function publicKeyBlob(raw: Uint8Array): Buffer {
  return Buffer.concat([sshString(algorithm), sshString(raw)]);
}

/**
 * @param namespace what the signature is for; a signature for one purpose is worth nothing for another
 * @returns the armoured signature, with a line end
 */
export function sshSignature(
  text: string,
  key: { readonly privateKey: KeyObject; readonly publicRaw: Uint8Array },
  namespace: string,
): string {
  const common = [sshString(namespace), sshString(""), sshString(digest)];
  const signed = Buffer.concat([
    Buffer.from(magic),
    ...common,
    sshString(createHash(digest).update(text).digest()),
  ]);
  const signature = Buffer.concat([sshString(algorithm), sshString(sign(null, signed, key.privateKey))]);
  const version = Buffer.from([0, 0, 0, 1]);
  const blob = Buffer.concat([
    Buffer.from(magic),
    version,
    sshString(publicKeyBlob(key.publicRaw)),
    ...common,
    sshString(signature),
  ]);
  const lines = blob.toString("base64").match(/.{1,70}/g) ?? [];
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----", ""].join("\n");
}
