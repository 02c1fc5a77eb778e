/** The doors to the hosts of a drill: ssh as the drill's own user, with the drill key. */
import { dirname, join } from "node:path";
import { type Command, Option } from "commander";
import type { DrillHost } from "../../chaos/host/drill-host.ts";
import type { InventoryOptions } from "../inventory-file.ts";
import type { DrilledHosts } from "./cluster-hosts.ts";

export interface KeyOptions {
  readonly key?: string;
}

/** Adds `--key FILE`. */
export function withKeyOption(command: Command): Command {
  return command.addOption(
    new Option("--key <file>", "the drill key, or its folder (default: drill-key beside the inventory)").env(
      "ESCAPEMENT_DRILL_KEY",
    ),
  );
}

export function keyPlace(options: KeyOptions & InventoryOptions): string {
  return options.key ?? join(dirname(options.inventory), "drill-key");
}

/** Before anything is planned or asked. @throws E_FILE_UNREADABLE for a key that is missing or that others may read */
export async function requireKey(options: KeyOptions & InventoryOptions): Promise<void> {
  const { readDrillKey } = await import("../../chaos/host/drill-key.ts");
  await readDrillKey(keyPlace(options));
}

export interface DoorOptions extends KeyOptions, InventoryOptions {
  /** Of connecting; default: the inventory's. */
  readonly connectTimeoutMs?: number;
}

/**
 * A door for each named host; nothing is connected yet.
 * @throws E_FILE_UNREADABLE for a key that is missing or that others may read
 */
export async function openDoors(
  names: readonly string[],
  { targetOf }: Pick<DrilledHosts, "targetOf">,
  options: DoorOptions,
): Promise<readonly DrillHost[]> {
  const { readDrillKey } = await import("../../chaos/host/drill-key.ts");
  const { SshDrillHost } = await import("../../chaos/host/ssh-drill-host.ts");
  const { connector } = await import("../../remote/connect.ts");
  const key = await readDrillKey(keyPlace(options));
  // No signal: Ctrl-C must not take the way to a host away from whoever wants to put it right.
  const connect = connector({});
  return names.map((name) => {
    const target = targetOf(name);
    return new SshDrillHost({
      key,
      connect,
      target:
        options.connectTimeoutMs === undefined
          ? target
          : { ...target, connectTimeoutMs: options.connectTimeoutMs },
    });
  });
}
