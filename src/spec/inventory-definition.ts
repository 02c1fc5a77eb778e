/** An inventory as everything above sees it, whichever format it was written in: absolute paths, defaults applied. */
import type { Position } from "./problem.ts";

export type SettingScalar = string | number | boolean;
export type SettingValue = SettingScalar | readonly SettingScalar[];
export type Settings = Readonly<Record<string, SettingValue>>;

/** Where and as whom a host is reached. The same shape as RemoteTarget of src/remote. */
export interface HostTarget {
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly user: string;
  /** Absolute paths, tried in order. Empty: those of the ssh configuration. */
  readonly identityFiles: readonly string[];
  /** Absolute paths. Empty: those of the ssh configuration. */
  readonly knownHostsFiles: readonly string[];
  /** The nearest first. */
  readonly jump: readonly HostTarget[];
  readonly sudoPasswordFile?: string;
  readonly connectTimeoutMs: number;
  /** This machine, without ssh. */
  readonly connection?: "local";
  /** What the inventory left open, so that the ssh configuration may say it. */
  readonly defaulted?: readonly ("user" | "port" | "jump")[];
}

export interface InventoryHost extends Position {
  readonly name: string;
  /** Undefined for a host that is only a way to others. */
  readonly profile?: string;
  /** Hosts of one domain may be lost together. The host's own name where none was given. */
  readonly failureDomain: string;
  /** Of the inventory, with the host's own in place of equal names. */
  readonly settings: Settings;
  /** Where a setting was written; undefined where there is none of that name. */
  settingPlace(name: string): Position | undefined;
  readonly target: HostTarget;
}

export interface InventoryDefinition {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  readonly format: "escapement" | "ansible";
  /** Name of the Cluster these hosts belong to. */
  readonly cluster?: string;
  /** The inventory's own, without those of single hosts. */
  readonly settings: Settings;
  /** In the order of the file. */
  readonly hosts: readonly InventoryHost[];
  /** What a reader should know but need not mend, one sentence each: parts of an Ansible inventory that are not used. */
  readonly notes: readonly string[];
}

/** How every host is reached, in the order of the file. */
export function targets(inventory: InventoryDefinition): readonly HostTarget[] {
  return inventory.hosts.map((host) => host.target);
}
