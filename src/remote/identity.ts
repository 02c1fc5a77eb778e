/** What is offered to a host as proof of who we are: the agent first, then key files. */
import { readFile } from "node:fs/promises";
import ssh2, { type AuthenticationType } from "ssh2";
import { EscapementError, messageOf } from "../base/errors.ts";
import type { Hop } from "./route.ts";

export type Offer =
  | { readonly type: "agent"; readonly username: string; readonly agent: string }
  | { readonly type: "publickey"; readonly username: string; readonly key: Buffer };

export interface Identity {
  readonly offers: readonly Offer[];
  /** Why a key that was expected is not offered, for the message when nothing helps. */
  readonly passedOver: readonly string[];
}

/** @throws E_HOST_AUTH for a key file that the inventory names and that cannot be used */
export async function readIdentity(hop: Hop): Promise<Identity> {
  const { user: username, host, agentSocket } = hop;
  const offers: Offer[] = [];
  const passedOver: string[] = [];
  if (agentSocket !== undefined) offers.push({ type: "agent", username, agent: agentSocket });
  for (const { path, named } of hop.identityFiles) {
    const read = await readKey(path);
    if ("key" in read) offers.push({ type: "publickey", username, key: read.key });
    else if (read.missing && !named) continue;
    else if (named && (agentSocket === undefined || !read.encrypted))
      throw new EscapementError("E_HOST_AUTH", {
        host,
        user: username,
        reason: `the key ${path} ${read.reason}`,
        hint: read.encrypted
          ? `give it to an agent: ssh-add ${path}`
          : "name a private key in identityFile, or leave it out",
      });
    else passedOver.push(`${path} ${read.reason}`);
  }
  return { offers, passedOver };
}

type KeyFile =
  | { readonly key: Buffer }
  | { readonly reason: string; readonly missing: boolean; readonly encrypted: boolean };

async function readKey(path: string): Promise<KeyFile> {
  let key: Buffer;
  try {
    key = await readFile(path);
  } catch (error) {
    const missing = (error as { code?: string }).code === "ENOENT";
    const reason = missing ? "does not exist" : `cannot be read: ${messageOf(error)}`;
    return { reason, missing, encrypted: false };
  }
  const parsed = ssh2.utils.parseKey(key);
  if (!(parsed instanceof Error)) {
    const [first] = Array.isArray(parsed) ? parsed : [parsed];
    if (first?.isPrivateKey()) return { key };
    return { reason: "is not a private key", missing: false, encrypted: false };
  }
  const encrypted = /encrypted|passphrase/i.test(parsed.message);
  const reason = encrypted
    ? "is encrypted and needs its passphrase"
    : "is not a private key in a known format";
  return { reason, missing: false, encrypted };
}

/** Hands out one offer after the other, as long as the host still takes keys. */
export function offerInTurn(offers: readonly Offer[]) {
  let next = 0;
  return (
    left: AuthenticationType[] | null,
    _partial: boolean | null,
    callback: (offer: Offer | false) => void,
  ): void => {
    // Null the first time: nothing was tried yet.
    const open = left === null || left.includes("publickey");
    callback((open && offers[next++]) || false);
  };
}
