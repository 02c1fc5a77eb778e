/**
 * Accounts that exist for one server only: it runs in a mount namespace of its
 * own, with other files at /etc/passwd, /etc/shadow and /etc/sudoers.d. The
 * machine's own are not touched.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const sudoPassword = "pass word's $x";

/** Name → login shell. */
export const accounts = {
  /** Its .bashrc talks on both streams; sudo with a password. */
  noisy: "/bin/bash",
  /** Its .bashrc has every line printed that is run. */
  tracing: "/bin/bash",
  cshell: "/bin/csh",
  posix: "/bin/sh",
  nologin: "/usr/sbin/nologin",
  /** Sudo with a password. */
  asked: "/bin/sh",
  /** Sudo without one. */
  free: "/bin/sh",
  /** No sudo. */
  barred: "/bin/sh",
} as const;

export type Account = keyof typeof accounts;

const sudoers =
  "Defaults !lecture\nroot ALL=(ALL) ALL\nasked ALL=(ALL) ALL\nnoisy ALL=(ALL) ALL\nfree ALL=(ALL) NOPASSWD: ALL\n";

export function writeAccounts(folder: string): void {
  const hash = execFileSync("openssl", ["passwd", "-6", "-stdin"], { input: sudoPassword, encoding: "utf8" });
  const etc = join(folder, "etc");
  mkdirSync(join(etc, "sudoers.d"), { recursive: true });
  let passwd = readFileSync("/etc/passwd", "utf8");
  let shadow = readFileSync("/etc/shadow", "utf8");
  for (const [i, [name, shell]] of Object.entries(accounts).entries()) {
    const id = 47_000 + i;
    const home = join(folder, "home", name);
    mkdirSync(home, { recursive: true });
    chownSync(home, id, id);
    passwd += `${name}:x:${id}:${id}::${home}:${shell}\n`;
    shadow += `${name}:${hash.trim()}:19000:0:99999:7:::\n`;
  }
  writeFileSync(
    join(folder, "home", "noisy", ".bashrc"),
    "echo 'Welcome! escapement-start-0~ is not yours'\necho 'stty: not a terminal' >&2\nprintf 'no newline'\n",
  );
  writeFileSync(join(folder, "home", "tracing", ".bashrc"), "set -xv\n");
  writeFileSync(join(etc, "passwd"), passwd);
  writeFileSync(join(etc, "shadow"), shadow, { mode: 0o600 });
  writeFileSync(join(etc, "sudoers.d", "test"), sudoers);
  chmodSync(join(etc, "sudoers.d", "test"), 0o440);
  mkdirSync(join(folder, "small"));
}

/** The command that puts those files in place and then becomes `run`. `small/` has room for 64 KiB. */
export function namespaceScript(folder: string, run: readonly string[]): readonly string[] {
  const script = [
    'mount --bind "$1/etc/passwd" /etc/passwd',
    'mount --bind "$1/etc/shadow" /etc/shadow',
    'mount --bind "$1/etc/sudoers.d" /etc/sudoers.d',
    'mount -t tmpfs -o size=64k,mode=777 none "$1/small"',
    'shift; exec "$@"',
  ].join(" && ");
  return ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", folder, ...run];
}
