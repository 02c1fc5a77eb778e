/** The files that a lab gives to its user: the inventory, the keys to the hosts, and who they are. */
import { existsSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";
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

/** Taking the lab down removes our files, so none of them may have been somebody else's. @throws E_BAD_VALUE */
export function checkOutputFolder(folder: string): void {
  const taken = Object.values(names).filter((name) => existsSync(join(folder, name)));
  if (taken.length === 0) return;
  throw new EscapementError("E_BAD_VALUE", {
    option: "-o",
    value: folder,
    expected: `a folder without ${taken.join(", ")}`,
    hint: "name a new or empty folder",
  });
}

export function writeOutput(state: LabState, knownHosts: readonly string[], opsPassword: string): void {
  const folder = state.outputFolder;
  makeFolder(folder);
  writeFileSync(outputFile(folder, "knownHosts"), `${knownHosts.join("\n")}\n`, { mode: 0o644 });
  writeFileSync(outputFile(folder, "opsPassword"), `${opsPassword}\n`, { mode: 0o600 });
  writeFileSync(outputFile(folder, "inventory"), inventoryText(state), { mode: 0o644 });
}

/** Removes them, and the folder when nothing else is in it. */
export function removeOutput(folder: string): void {
  for (const name of Object.values(names)) rmSync(join(folder, name), { force: true });
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
