/**
 * known_hosts, as OpenSSH writes it: which host has which key. Whatever is not
 * clearly a yes is a no: a key that no line has is unknown, and a host with a
 * line of its own never gets by with another key, nor with a key of another type.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { keyTypeOf } from "./host-key.ts";

export interface KnownHost {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly marker?: "revoked" | "cert-authority";
  readonly type: string;
  readonly key: Buffer;
  matches(name: string): boolean;
}

/** A line that is not understood. It is passed over: it can make no key known. */
export interface KnownHostsFlaw {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export type KeyVerdict =
  | { readonly verdict: "known"; readonly entry: KnownHost }
  | { readonly verdict: "revoked"; readonly entry: KnownHost }
  /** The host has lines of its own, all with other keys. */
  | { readonly verdict: "changed"; readonly entries: readonly KnownHost[]; readonly authority?: KnownHost }
  /** `authority`: a @cert-authority line covers the host; certificates are not supported. */
  | { readonly verdict: "unknown"; readonly authority?: KnownHost };

/** The name by which known_hosts knows a host: `[address]:port` where the port is not 22. */
export function knownHostName(address: string, port: number): string {
  const name = address.toLowerCase();
  return port === 22 ? name : `[${name}]:${port}`;
}

/** Reads the text of one file. Never throws. */
export function parseKnownHosts(
  text: string,
  file: string,
): { readonly entries: readonly KnownHost[]; readonly flaws: readonly KnownHostsFlaw[] } {
  const entries: KnownHost[] = [];
  const flaws: KnownHostsFlaw[] = [];
  for (const [i, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const parsed = parseLine(line);
    if (typeof parsed === "string") flaws.push({ file, line: i + 1, message: parsed });
    else entries.push({ file, line: i + 1, ...parsed });
  }
  return { entries, flaws };
}

/** @param name as {@link knownHostName} gives it @param blob the key that the host shows */
export function judgeKey(entries: readonly KnownHost[], name: string, blob: Uint8Array): KeyVerdict {
  const mine = entries.filter((entry) => entry.matches(name));
  const has = (entry: KnownHost) => entry.key.equals(blob);
  const revoked = mine.find((entry) => entry.marker === "revoked" && has(entry));
  if (revoked) return { verdict: "revoked", entry: revoked };
  const plain = mine.filter((entry) => entry.marker === undefined);
  const known = plain.find(has);
  if (known) return { verdict: "known", entry: known };
  const authority = mine.find((entry) => entry.marker === "cert-authority");
  const seen = authority && { authority };
  if (plain.length > 0) return { verdict: "changed", entries: plain, ...seen };
  return { verdict: "unknown", ...seen };
}

/** The types of key that a host is known by: asked of the host first, so that it shows one of them. */
export function knownTypes(entries: readonly KnownHost[], name: string): readonly string[] {
  const mine = entries.filter((entry) => entry.marker === undefined && entry.matches(name));
  return [...new Set(mine.map((entry) => entry.type))];
}

/** One line, with the name in the clear or hashed with a salt of 20 bytes. */
export function knownHostsLine(name: string, blob: Uint8Array, salt?: Uint8Array): string {
  const host =
    salt === undefined
      ? name
      : `|1|${Buffer.from(salt).toString("base64")}|${hashName(name, salt).toString("base64")}`;
  return `${host} ${keyTypeOf(blob)} ${Buffer.from(blob).toString("base64")}`;
}

/** True where the file hides the names of its hosts, so that a new line should do so, too. */
export function hasHashedNames(text: string): boolean {
  return /^(@\S+\s+)?\|1\|/m.test(text);
}

type ParsedLine = Omit<KnownHost, "file" | "line">;

/** @returns what is wrong with it, in words, or the line */
function parseLine(line: string): ParsedLine | string {
  const words = line.split(/[ \t]+/);
  let marker: KnownHost["marker"];
  if (words[0]!.startsWith("@")) {
    const word = words.shift();
    if (word === "@revoked") marker = "revoked";
    else if (word === "@cert-authority") marker = "cert-authority";
    else return `${word} is not a known marker`;
  }
  const [hosts, type, base64] = words;
  if (hosts === undefined || type === undefined || base64 === undefined)
    return "must have hosts, a type of key and the key";
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return "the key is not base64";
  const key = Buffer.from(base64, "base64");
  if (keyTypeOf(key) !== type) return `the key is not of type ${type}`;
  const matches = hosts.startsWith("|") ? hashedMatcher(hosts) : patternMatcher(hosts);
  if (!matches) return "the hashed name is not of the form |1|salt|hash";
  return { ...(marker && { marker }), type, key, matches };
}

function hashedMatcher(hosts: string): KnownHost["matches"] | undefined {
  const match = /^\|1\|([A-Za-z0-9+/]+={0,2})\|([A-Za-z0-9+/]+={0,2})$/.exec(hosts);
  if (!match) return undefined;
  const salt = Buffer.from(match[1]!, "base64");
  const hash = Buffer.from(match[2]!, "base64");
  if (hash.length !== 20) return undefined;
  return (name) => timingSafeEqual(hashName(name, salt), hash);
}

function hashName(name: string, salt: Uint8Array): Buffer {
  return createHmac("sha1", salt).update(name).digest();
}

/** Names with * and ?; one that begins with ! and fits makes the whole line not fit. */
function patternMatcher(hosts: string): KnownHost["matches"] {
  const patterns = hosts
    .toLowerCase()
    .split(",")
    .filter((pattern) => pattern !== "" && pattern !== "!");
  return (name) => {
    let found = false;
    for (const pattern of patterns) {
      const negated = pattern.startsWith("!");
      if (!fits(negated ? pattern.slice(1) : pattern, name)) continue;
      if (negated) return false;
      found = true;
    }
    return found;
  };
}

/** Compares with wildcards, in time proportional to pattern × name at worst. */
function fits(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let restart = 0;
  while (n < name.length) {
    const char = pattern[p];
    if (char === "*") {
      star = p++;
      restart = n;
    } else if (char !== undefined && (char === "?" || char === name[n])) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++restart;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}
