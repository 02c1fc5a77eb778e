/** What a feature knows while it turns a section into resources for one host. */
import { isIP } from "node:net";
import { parseBytes } from "../../base/bytes.ts";
import type { Fact } from "../../base/fact.ts";
import { isKnown, known, unknown } from "../../base/fact.ts";
import type { HostFacts } from "../../hardware/host-facts.ts";
import type { SectionName } from "../../spec/host-profile-schema.ts";
import type { InventoryHost, SettingValue } from "../../spec/inventory-definition.ts";
import { formatPosition, type Position } from "../../spec/problem.ts";
import type { Provenance } from "../resource.ts";

/** A value and where it came from. */
export interface Sourced<T> {
  readonly value: T;
  readonly from: string;
}

/** Something the operator should know about the profile of a host. */
export interface Note {
  /** `error`: apply refuses the host. */
  readonly severity: "error" | "warning" | "info";
  readonly text: string;
  readonly at?: Position;
}

/** A host of the inventory and what its profile makes it. */
export interface ClusterHost {
  readonly host: InventoryHost;
  readonly roles: ReadonlySet<SectionName>;
}

const containers = ["systemd-nspawn", "lxc", "lxc-libvirt", "docker", "podman", "openvz", "container-other"];

export class HostContext {
  readonly notes: Note[] = [];

  constructor(
    readonly host: InventoryHost,
    readonly roles: ReadonlySet<SectionName>,
    /** Every host with a profile, this one too, in the order of the inventory. */
    readonly hosts: readonly ClusterHost[],
    readonly facts: HostFacts,
    readonly clusterName: string,
  ) {}

  note(severity: Note["severity"], text: string, at?: Position): void {
    // The place alone: a host of the inventory is a place, too, and has much that nobody asked for.
    const place = at && { file: at.file, line: at.line, column: at.column };
    this.notes.push({ severity, text, ...(place && { at: place }) });
  }

  /** The hosts whose profile has this section, in the order of the inventory. */
  hostsWith(role: SectionName): readonly InventoryHost[] {
    return this.hosts.filter(({ roles }) => roles.has(role)).map(({ host }) => host);
  }

  /** A setting of the inventory with the place it was written. */
  setting(name: string): Sourced<SettingValue> | undefined {
    const value = this.host.settings[name];
    if (value === undefined) return undefined;
    const place = this.host.settingPlace(name);
    return { value, from: `setting ${name}${place ? ` at ${formatPosition(place)}` : ""}` };
  }

  /** A setting that is a list; a single value is a list of one. */
  list(name: string): Sourced<readonly string[]> | undefined {
    const found = this.setting(name);
    if (!found) return undefined;
    const values: readonly unknown[] = Array.isArray(found.value) ? found.value : [found.value];
    return { value: values.map(String), from: found.from };
  }

  text(name: string): Sourced<string> | undefined {
    const found = this.setting(name);
    return found && { value: String(found.value), from: found.from };
  }

  /** The host's own figure, unless the inventory has a setting in its place. */
  figure(name: string, fact: Fact<number>, what: string): Fact<Sourced<number>> {
    const set = this.setting(name);
    if (set) {
      const value = typeof set.value === "number" ? set.value : Number(set.value);
      return Number.isFinite(value) && value > 0
        ? known({ value, from: set.from })
        : unknown(`${set.from} is not a number above 0`);
    }
    if (isKnown(fact)) {
      return fact.known > 0
        ? known({ value: fact.known, from: "facts" })
        : unknown(`${what} is said to be ${fact.known}; the setting ${name} can say it`);
    }
    return unknown(`${what} is unknown (${fact.unknown}); the setting ${name} can say it`);
  }

  get cores(): Fact<Sourced<number>> {
    return this.figure("cores", this.facts.cpu.cores, "the number of physical cores");
  }

  get memory(): Fact<Sourced<number>> {
    const set = this.text("memory");
    if (!set) return this.figure("memory", this.facts.memory.totalBytes, "the size of memory");
    try {
      return known({
        value: /^\d+$/.test(set.value) ? Number(set.value) : parseBytes(set.value),
        from: set.from,
      });
    } catch {
      return unknown(`${set.from} is not a size such as 64GiB`);
    }
  }

  get numaNodes(): Fact<Sourced<number>> {
    const nodes = this.facts.cpu.numaNodes;
    const count = "known" in nodes ? known(Math.max(1, nodes.known.length)) : unknown(nodes.unknown);
    return this.figure("numaNodes", count, "the number of NUMA nodes");
  }

  /** What keeps this host from having a kernel and clock of its own, or undefined. Unknown counts as its own. */
  get container(): string | undefined {
    const set = this.text("virtualization")?.value;
    const fact = this.facts.os.virtualization;
    const kind = set ?? (isKnown(fact) ? fact.known : undefined);
    return kind !== undefined && containers.includes(kind) ? kind : undefined;
  }

  /** The address by which the other hosts reach a host: firewall and keepalived want numbers. */
  addressOf(host: InventoryHost): Fact<string> {
    const set = host.settings.clusterAddress;
    const address = typeof set === "string" ? set : host.target.address;
    const odd =
      isIP(address) === 0 ? "is a name" : /%/.test(address) && "holds on one network card of one host";
    return odd
      ? unknown(
          `${host.name} has the address ${address}, which ${odd}; its setting clusterAddress can say the number`,
        )
      : known(address);
  }

  /** The addresses of several hosts; unknown when one of them is. */
  addressesOf(hosts: readonly InventoryHost[]): Fact<readonly string[]> {
    const found = hosts.map((host) => this.addressOf(host));
    const missing = found.find((one) => !isKnown(one));
    return missing && !isKnown(missing)
      ? missing
      : known(found.flatMap((one) => (isKnown(one) ? [one.known] : [])));
  }
}

/** That a value was computed, with the formula and what was put into it. */
export function computed(key: string, value: string | number, because: string): Provenance {
  return { key, value: String(value), from: "computed", because };
}

/** That a value cannot be computed, and why: so that who asks for it hears the reason. */
export function notComputed(key: string, reason: string): Provenance {
  return { key, value: "unknown", from: "computed", because: reason };
}

/** That a value came from the inventory. */
export function fromSetting(key: string, { value, from }: Sourced<unknown>): Provenance {
  return { key, value: Array.isArray(value) ? value.join(", ") : String(value), from };
}
