/** The files that a lab gives to its user: the inventory, the keys to the hosts, and who they are. */
import { existsSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import type { LabState } from "./lab-state.ts";

const names = {
  inventory: "inventory.yaml",
  knownHosts: "known_hosts",
  key: "id_ed25519",
  publicKey: "id_ed25519.pub",
  opsPassword: "ops-password",
} as const;

/** The whole path of one of them. */
export function outputFile(folder: string, which: keyof typeof names): string {
  return join(folder, names[which]);
}

/**
 * Before anything is made: that the files can be written there, and, as taking the lab down
 * removes them, that none of them is somebody else's. @throws E_BAD_VALUE
 */
export function checkOutputFolder(folder: string): void {
  const taken = Object.values(names).filter((name) => existsSync(join(folder, name)));
  if (taken.length > 0) throw unfit(folder, `a folder without ${taken.join(", ")}`);
  checkWritable(folder);
}

function unfit(folder: string, expected: string): EscapementError {
  const hint = "name a new or empty folder";
  return new EscapementError("E_BAD_VALUE", { option: "-o", value: folder, expected, hint });
}

export function writeOutput(state: LabState, knownHosts: readonly string[], opsPassword: string): void {
  const folder = state.outputFolder;
  makeFolder(folder);
  writeFileSync(outputFile(folder, "knownHosts"), `${knownHosts.join("\n")}\n`, { mode: 0o644 });
  writeFileSync(outputFile(folder, "opsPassword"), `${opsPassword}\n`, { mode: 0o600 });
  writeFileSync(outputFile(folder, "inventory"), inventoryText(state), { mode: 0o644 });
}

/** Writes and removes a file of no meaning, and the folders that were made for it. */
function checkWritable(folder: string): void {
  const made: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) made.push(at);
  const probe = join(folder, `.escapement-lab-${process.pid}`);
  try {
    makeFolder(folder);
    writeFileSync(probe, "probe\n", { flag: "wx" });
  } catch (error) {
    throw unfit(folder, `a folder that can be written (${messageOf(error)})`);
  } finally {
    remove(probe);
    for (const path of made) removeFolder(path);
  }
}

/**
 * Removes them, and the folder when nothing else is in it.
 * @returns why some are still there; undefined when none is
 */
export function removeOutput(folder: string): string | undefined {
  const left = Object.values(names).flatMap((name) => remove(join(folder, name)) ?? []);
  removeFolder(folder);
  return left[0];
}

/** @returns why it is still there; what cannot be there because its folder is none is not */
function remove(file: string): string | undefined {
  try {
    rmSync(file, { force: true });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTDIR" ? undefined : messageOf(error);
  }
}

function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The user keeps other things in it.
  }
}

/** The hosts of the lab as an inventory file. */
export function inventoryText(state: LabState): string {
  const hosts = state.hosts.map(
    (host) => `    - name: ${host.name}
      address: ${host.address}
      profile: ${host.profile}
      failureDomain: ${host.failureDomain}
`,
  );
  return `# The hosts of lab ${state.name}; written by escapement lab up, removed by escapement lab down.
apiVersion: escapement/v1
kind: Inventory
metadata:
  name: ${state.name}
spec:
  defaults:
    user: root
    port: 22
    identityFile: ${names.key}
    knownHostsFile: ${names.knownHosts}
  settings:
    virtualIp: ${state.virtualIp}
    timeSources: [${state.timeSources.join(", ")}]
  hosts:
${hosts.join("")}`;
}
