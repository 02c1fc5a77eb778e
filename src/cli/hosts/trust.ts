/** `escapement hosts trust HOST`: shows the keys of a host, and writes them down once a person has agreed. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { ShownKey } from "../../remote/host-key-scan.ts";
import { defineCommand } from "../command.ts";
import {
  chooseHosts,
  type InventoryOptions,
  requireInventory,
  withInventoryOption,
} from "../inventory-file.ts";
import { print, printJson, say, table } from "../terminal.ts";
import { askLine, hasTerminal } from "./ask.ts";

interface Options extends InventoryOptions {
  readonly fingerprint?: string;
  readonly replace?: boolean;
  readonly json?: boolean;
}

export function buildTrust(): Command {
  const command = defineCommand("trust", "show the keys of a host and add them to known_hosts", {
    examples: [
      "escapement hosts trust sched-a",
      "escapement hosts trust sched-a --fingerprint SHA256:THHO3m/AAG8P18mg7YYqCFUG+NdGgsEYjGkD7ADuJsU",
      "escapement hosts trust exec-1 --replace",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.badData, ExitCode.unavailable],
    notes:
      "Nothing is logged in to. Compare what is shown with what the host itself says on its console:\nssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub",
  })
    .argument("<host>", "a host of the inventory")
    .option("--fingerprint <SHA256:...>", "the fingerprint the host must show; then nobody is asked")
    .option("--replace", "the machine is another one now: its old keys are taken out")
    .option("--json", "print one JSON document");
  return withInventoryOption(command).action(async (name: string, options: Options) => {
    const inventory = await requireInventory(options);
    const [host] = chooseHosts(inventory, [name]);
    const { scanHostKeys } = await import("../../remote/host-key-scan.ts");
    const { judgeKey } = await import("../../remote/known-hosts.ts");
    const { addKnownHosts, readKnownHosts } = await import("../../remote/known-hosts-files.ts");
    const { hop, keys } = await scanHostKeys(host!.target);
    const file = hop.knownHostsFiles[0];
    if (keys.length === 0 || file === undefined)
      throw refused(
        file === undefined
          ? "there is no known_hosts file to add to"
          : `${name} shows no key of a kind that is trusted`,
        "set knownHostsFile in the inventory, or let the host have an ed25519 key",
      );
    const { entries } = await readKnownHosts(hop.knownHostsFiles);
    const verdicts = keys.map((key) => judgeKey(entries, hop.keyName, key.blob));
    const revoked = verdicts.find((verdict) => verdict.verdict === "revoked");
    if (revoked)
      throw new EscapementError("E_HOST_KEY_REVOKED", {
        host: name,
        type: revoked.entry.type,
        fingerprint: keys.find(({ blob }) => revoked.entry.key.equals(blob))!.fingerprint,
        place: `${revoked.entry.file}:${revoked.entry.line}`,
      });
    // With one key known, the others of the same host are new kinds, not a change.
    const known = verdicts.some(({ verdict }) => verdict === "known");
    const changed = verdicts.find((verdict) => verdict.verdict === "changed");
    if (changed && !known && !options.replace) {
      const { fingerprintOf } = await import("../../remote/host-key.ts");
      throw new EscapementError("E_HOST_KEY_CHANGED", {
        host: name,
        type: keys[0]!.type,
        fingerprint: keys[0]!.fingerprint,
        known: changed.entries
          .map((old) => `${fingerprintOf(old.key)} at ${old.file}:${old.line}`)
          .join(", "),
      });
    }
    const unknown = keys.filter((_, i) => verdicts[i]!.verdict !== "known");
    // Nothing to add, so nobody is asked; a fingerprint that was named must still be one of them.
    if (unknown.length === 0 && options.fingerprint === undefined && !options.replace) {
      if (options.json)
        printJson({
          host: name,
          name: hop.keyName,
          file,
          added: 0,
          removed: 0,
          keys: keys.map(({ type, fingerprint }) => ({ type, fingerprint })),
        });
      else
        print(
          `${name} is known already: ${keys.map(({ type, fingerprint }) => `${type} ${fingerprint}`).join(", ")}`,
        );
      return;
    }
    const agreed = await agree(name, hop.keyName, keys, options, known);
    const { added, removed } = await writeDown(agreed);
    if (options.json) {
      printJson({
        host: name,
        name: hop.keyName,
        file,
        added,
        removed,
        keys: agreed.map(({ type, fingerprint }) => ({ type, fingerprint })),
      });
      return;
    }
    if (removed > 0) print(`took ${removed} old key(s) of ${name} out of ${file}`);
    print(
      added === 0 ? `${name} is known already in ${file}` : `added ${added} key(s) of ${name} to ${file}`,
    );

    async function writeDown(trusted: readonly ShownKey[]) {
      const blobs = trusted.map(({ blob }) => blob);
      if (!options.replace) return { added: await addKnownHosts(file!, hop.keyName, blobs), removed: 0 };
      const { replaceKnownHosts } = await import("../../remote/replace-known-hosts.ts");
      // What was known of this machine before, and is still shown, stays.
      const old = keys.filter((_, i) => verdicts[i]!.verdict === "known").map(({ blob }) => blob);
      return replaceKnownHosts(hop.knownHostsFiles, hop.keyName, [...new Set([...blobs, ...old])]);
    }
  });
}

/** @returns the keys to write down. @throws E_REFUSED when nobody agreed */
async function agree(
  name: string,
  keyName: string,
  keys: readonly ShownKey[],
  { fingerprint, json }: Options,
  known: boolean,
): Promise<readonly ShownKey[]> {
  const shown = table(
    ["type", "fingerprint"],
    keys.map((key) => [key.type, key.fingerprint]),
  );
  if (fingerprint !== undefined) {
    // Only the key that was named: the others were compared with nothing.
    const named = keys.filter((key) => key.fingerprint === fingerprint.replace(/=+$/, ""));
    if (named.length > 0) return named;
    throw refused(
      `${name} does not show ${fingerprint}, but ${keys.map((key) => key.fingerprint).join(", ")}`,
      "nothing was written; this is not the host you mean, or not its fingerprint",
    );
  }
  say(`${name} (${keyName}) shows:\n${shown}`);
  if (known) say("one of them is known already; the others are new");
  if (json || !hasTerminal())
    throw refused(
      "there is nobody to ask",
      "read the fingerprint on the console of the host and pass it: --fingerprint SHA256:…",
    );
  const answer = await askLine("Compare with the console of the host. Type yes to trust it: ");
  if (answer !== "yes") throw refused("not trusted", "nothing was written");
  return keys;
}

function refused(what: string, hint: string): EscapementError {
  return new EscapementError("E_REFUSED", { what, hint });
}
