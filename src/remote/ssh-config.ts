/** The user's own ssh configuration, as `ssh -G` tells it: it fills in what the inventory leaves open. */
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { userName } from "../base/user-name.ts";
import { defaultKnownHostsFiles } from "./known-hosts-files.ts";
import type { RemoteTarget } from "./remote.ts";

/** What `ssh -G HOST` says, as far as it is used here. Paths are absolute. */
export interface SshConfig {
  readonly hostName?: string;
  readonly user?: string;
  readonly port?: number;
  readonly identityFiles: readonly string[];
  readonly knownHostsFiles: readonly string[];
  /** Hops as written: `user@host:port`, or a name that has a configuration of its own. */
  readonly proxyJump: readonly string[];
  /** A command whose input and output are the way to the host; its tokens (%h, %p, …) are not filled in. */
  readonly proxyCommand?: string;
  /** The command hands over a descriptor instead; that is not supported. */
  readonly proxyUsesDescriptor?: boolean;
  /** A socket, or `none`. */
  readonly identityAgent?: string;
  /** The name to look up in known_hosts in place of the address. */
  readonly hostKeyAlias?: string;
}

const askLimitMs = 5_000;

/**
 * Asks ssh. Undefined where there is no ssh, or it says nothing useful: then
 * the inventory alone decides.
 * @param configFile in place of the user's and the system's
 */
export function askSshConfig(
  address: string,
  given: { readonly user?: string; readonly port?: number },
  configFile?: string,
): Promise<SshConfig | undefined> {
  const args = [
    ...(configFile === undefined ? [] : ["-F", configFile]),
    ...(given.user === undefined ? [] : ["-l", given.user]),
    ...(given.port === undefined ? [] : ["-p", String(given.port)]),
    "-G",
    "--",
    address,
  ];
  return new Promise((resolve) => {
    execFile("ssh", args, { timeout: askLimitMs, maxBuffer: 1024 * 1024 }, (error, stdout) =>
      resolve(error ? undefined : parseSshConfig(stdout)),
    );
  });
}

/** Reads the output of `ssh -G`. Never throws. */
export function parseSshConfig(text: string): SshConfig {
  const values = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const match = /^(\w+)[ \t]+(.+)$/.exec(line.trim());
    if (!match) continue;
    const key = match[1]!.toLowerCase();
    values.set(key, [...(values.get(key) ?? []), match[2]!]);
  }
  const one = (key: string) => {
    const value = values.get(key)?.[0];
    return value === undefined || value.toLowerCase() === "none" ? undefined : value;
  };
  const port = Number(one("port"));
  const files = (key: string) =>
    (values.get(key) ?? [])
      .flatMap((value) => value.split(/[ \t]+/))
      .filter((path) => path !== "" && path.toLowerCase() !== "none" && path !== "/dev/null")
      .map(absolute);
  const optional = {
    hostName: one("hostname"),
    user: one("user"),
    proxyCommand: one("proxycommand"),
    hostKeyAlias: one("hostkeyalias"),
    identityAgent: values.get("identityagent")?.[0],
  };
  return {
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as object),
    ...(one("proxyusefdpass") === "yes" && { proxyUsesDescriptor: true }),
    ...(Number.isInteger(port) && port > 0 && port < 65_536 && { port }),
    identityFiles: (values.get("identityfile") ?? []).filter((path) => path !== "none").map(absolute),
    knownHostsFiles: [...files("userknownhostsfile"), ...files("globalknownhostsfile")],
    proxyJump: one("proxyjump")?.split(",") ?? [],
  };
}

function absolute(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/** What is used where there is no ssh to ask. */
export function withoutSsh(target: RemoteTarget): SshConfig {
  const keys = ["id_ed25519", "id_ecdsa", "id_rsa"].map((name) => join(homedir(), ".ssh", name));
  return {
    hostName: target.address,
    user: userName(),
    port: 22,
    identityFiles: keys,
    knownHostsFiles: defaultKnownHostsFiles(),
    proxyJump: [],
  };
}
