/**
 * Where everything of one lab is. Every name follows from the lab's name alone,
 * so that taking a lab down needs no memory of how far putting it up had come.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";

/** Gone after a restart of this machine, like all that it describes. */
export const labsFolder = "/run/escapement-lab";

/** Names of namespaces and control groups begin with it. */
export const labPrefix = "esc-lab-";

/** In the environment of everything that a lab starts on this machine: tells its processes from others. */
export const labMark = "ESCAPEMENT_LAB_HOSTS";

const namePattern = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** @throws E_BAD_VALUE unless `name` can be part of a host name; at most 24 characters */
export function checkLabName(name: string, option: string): string {
  if (namePattern.test(name) && name.length <= 24) return name;
  throw new EscapementError("E_BAD_VALUE", {
    option,
    value: name,
    expected: "a name of a lab or of a host",
    hint: "write lower-case letters, digits and single hyphens, beginning with a letter, at most 24 in all",
  });
}

export class LabPlace {
  readonly name: string;

  constructor(name: string) {
    this.name = checkLabName(name, "--name");
  }

  /** To be added to the environment of every program that makes a part of the lab. */
  get mark(): Readonly<Record<string, string>> {
    return { [labMark]: this.name };
  }

  /** Holds the lab's state, and the disks of its hosts. */
  get folder(): string {
    return join(labsFolder, this.name);
  }

  get stateFile(): string {
    return join(this.folder, "lab.json");
  }

  /** The network namespace of the bridge and of the time sources. */
  get namespace(): string {
    return `${labPrefix}${this.name}`;
  }

  /** The network namespace of one host. A dot is in no name, so that no two labs can meet. */
  hostNamespace(host: string): string {
    return `${this.namespace}.${host}`;
  }

  /** Our end of the cable to the bridge. Names of interfaces have at most 15 characters. */
  get uplink(): string {
    return `escl-${createHash("sha256").update(this.name).digest("hex").slice(0, 8)}`;
  }

  /** The control group of the lab, below each hierarchy. */
  get controlGroup(): string {
    return `${labPrefix}${this.name}`;
  }

  /** What systemd-nspawn calls a host of ours. */
  machine(host: string): string {
    return `${this.name}.${host}`;
  }

  hostFolder(host: string): string {
    return join(this.folder, "hosts", host);
  }

  /** The file system that the host sees as `/`. */
  hostRoot(host: string): string {
    return join(this.hostFolder(host), "root");
  }
}

/** The file of a network namespace. */
export function namespaceFile(namespace: string): string {
  return `/run/netns/${namespace}`;
}

/** The beginning of a command that runs inside a network namespace. `ip netns exec` would remount /sys. */
export function inNamespace(namespace: string): string[] {
  return ["nsenter", `--net=${namespaceFile(namespace)}`];
}
