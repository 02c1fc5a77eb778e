/** What makes one host of the lab different from the next: names, keys, passwords, the clock's file. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockFiles } from "./host-clock.ts";
import type { LabPlace } from "./lab-place.ts";
import type { LabHost, LabState } from "./lab-state.ts";
import { mustRun } from "./run-program.ts";

export interface LabKeys {
  /** The public key that root and ops accept, one line. */
  readonly authorizedKey: string;
  /** What sudo asks ops for. */
  readonly opsPassword: string;
}

/** Makes the key pair `file` and `file.pub`. @returns the public key, one line */
export async function makeKey(file: string, comment: string): Promise<string> {
  await mustRun(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", file]);
  return readFileSync(`${file}.pub`, "utf8").trim();
}

/** Writes the host's own files into its fresh root. @returns its line for known_hosts */
export async function personalise(
  place: LabPlace,
  state: LabState,
  host: LabHost,
  keys: LabKeys,
): Promise<string> {
  const root = place.hostRoot(host.name);
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text, { mode });
  };
  write("etc/hostname", `${host.name}\n`);
  write("etc/machine-id", `${randomBytes(16).toString("hex")}\n`);
  write("etc/resolv.conf", "# The lab has no name server; see hosts(5).\n");
  write("etc/hosts", hostsFile(state));
  for (const [path, text] of Object.entries(clockFiles(root))) write(path, text);
  await mustRun(["chroot", root, "chpasswd"], {
    input: `ops:${keys.opsPassword}\n`,
    environment: place.mark,
  });
  mkdirSync(join(root, "root/.ssh"), { recursive: true, mode: 0o700 });
  write("root/.ssh/authorized_keys", `${keys.authorizedKey}\n`, 0o600);
  mkdirSync(join(root, "home/ops/.ssh"), { recursive: true, mode: 0o700 });
  write("home/ops/.ssh/authorized_keys", `${keys.authorizedKey}\n`, 0o600);
  await mustRun(["chroot", root, "sh", "-c", "chown -R ops:ops ~ops/.ssh"], { environment: place.mark });
  const hostKey = await makeKey(join(root, "etc/ssh/ssh_host_ed25519_key"), host.name);
  return `${host.address} ${hostKey.split(" ").slice(0, 2).join(" ")}`;
}

function hostsFile(state: LabState): string {
  const lines = state.hosts.map((host) => `${host.address} ${host.name}`);
  return ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback", ...lines, ""].join("\n");
}
