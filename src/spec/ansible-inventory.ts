/** An Ansible inventory as a definition of ours: what of its variables is used, and for what. */
import { basename, dirname, resolve } from "node:path";
import { userName } from "../base/user-name.ts";
import { parseAnsibleIni } from "./ansible-inventory-ini.ts";
import { type MergedHost, mergeHosts } from "./ansible-inventory-merge.ts";
import type { AnsibleHost, AnsibleModel, AnsibleVariable } from "./ansible-inventory-model.ts";
import { parseAnsibleYaml } from "./ansible-inventory-yaml.ts";
import {
  jumpOfArguments,
  passwordVariables,
  profileOfGroups,
  settingsOfVariables,
} from "./ansible-variables.ts";
import { hostPattern, parseHostAddress, userPattern } from "./host-address.ts";
import type { HostTarget, InventoryHost } from "./inventory-definition.ts";
import type { LoadedInventory } from "./load-inventory.ts";
import { compareProblems } from "./problem.ts";
import { localPath } from "./resolve-inventory.ts";

/** Never throws. */
export function parseAnsibleInventory(text: string, file: string, format: "ini" | "yaml"): LoadedInventory {
  const model = format === "ini" ? parseAnsibleIni(text, file) : parseAnsibleYaml(text, file);
  const merged = model.problems.length === 0 ? mergeHosts(model) : new Map<string, MergedHost>();
  if (model.hosts.size === 0 && model.problems.length === 0)
    model.complain({ file, line: 0, column: 0 }, "has no hosts");
  const notes = new Set<string>();
  const absolute = resolve(file);
  const hosts: InventoryHost[] = [];
  for (const host of model.hosts.values()) {
    const mine = merged.get(host.name);
    if (mine) hosts.push(new AnsibleReader(host, mine, model, dirname(absolute), notes).read());
  }
  if (model.problems.length > 0)
    return { inventory: undefined, problems: model.problems.sort(compareProblems) };
  const cluster = model.groups.get("all")?.variables.get("escapement_cluster")?.value;
  return {
    inventory: {
      name: basename(file).replace(/\.\w+$/, "") || "inventory",
      file: absolute,
      format: "ansible",
      ...(typeof cluster === "string" && { cluster }),
      settings: settingsOfVariables(model.groups.get("all")?.variables ?? new Map(), dirname(absolute)),
      hosts,
      notes: [...notes],
    },
    problems: [],
  };
}

/** Reads the variables of one host. */
class AnsibleReader {
  readonly #host: AnsibleHost;
  readonly #merged: MergedHost;
  readonly #model: AnsibleModel;
  readonly #folder: string;
  readonly #notes: Set<string>;

  constructor(
    host: AnsibleHost,
    merged: MergedHost,
    model: AnsibleModel,
    folder: string,
    notes: Set<string>,
  ) {
    this.#host = host;
    this.#merged = merged;
    this.#model = model;
    this.#folder = folder;
    this.#notes = notes;
  }

  read(): InventoryHost {
    const { name, file, line, column } = this.#host;
    const profile = this.#text("escapement_profile") ?? this.#profile();
    const failureDomain = this.#text("escapement_failure_domain") ?? name;
    const settings = settingsOfVariables(this.#merged.variables, this.#folder);
    for (const variable of passwordVariables)
      if (this.#merged.variables.has(variable))
        this.#notes.add(`${variable} is not used: passwords do not stand in an inventory`);
    return {
      file,
      line,
      column,
      name,
      ...(profile !== undefined && { profile }),
      failureDomain,
      settings,
      settingPlace: (setting) => {
        const key = `escapement_${setting.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
        const variable = this.#merged.variables.get(key);
        return variable && { file: variable.file, line: variable.line, column: variable.column };
      },
      target: this.#target(),
    };
  }

  #target(): HostTarget {
    const { name } = this.#host;
    const user = this.#text("ansible_user", "ansible_ssh_user");
    const port = this.#port();
    const key = this.#text("ansible_ssh_private_key_file", "ansible_private_key_file");
    const sudo = this.#text("escapement_sudo_password_file");
    const known = this.#text("escapement_known_hosts_file");
    const jump = this.#jump();
    const connection = this.#text("ansible_connection")?.replace(/^ansible\.(builtin|netcommon)\./, "");
    if (
      connection !== undefined &&
      !["ssh", "smart", "paramiko", "paramiko_ssh", "local"].includes(connection)
    )
      this.#complain("ansible_connection", `${connection} is not supported; only ssh and local are`);
    const address = this.#text("ansible_host", "ansible_ssh_host") ?? name;
    if (!hostPattern.test(address))
      this.#complain("ansible_host", `${JSON.stringify(address)} is neither a host name nor an address`);
    if (user !== undefined && !userPattern.test(user))
      this.#complain("ansible_user", `${JSON.stringify(user)} is not the name of a user`);
    const base: HostTarget = {
      host: name,
      address,
      port: port ?? 22,
      user: user ?? userName(),
      identityFiles: key === undefined ? [] : [localPath(key, this.#folder)],
      knownHostsFiles: known === undefined ? [] : [localPath(known, this.#folder)],
      jump: [],
      ...(sudo !== undefined && { sudoPasswordFile: localPath(sudo, this.#folder) }),
      connectTimeoutMs: 20_000,
      ...(connection === "local" && { connection: "local" as const }),
      defaulted: [
        ...(user === undefined ? (["user"] as const) : []),
        ...(port === undefined ? (["port"] as const) : []),
        ...(jump === undefined ? (["jump"] as const) : []),
      ],
    };
    return {
      ...base,
      jump: (jump ?? []).map((hop) => this.#hop(hop, base)).filter((hop) => hop !== undefined),
    };
  }

  #hop(written: string, base: HostTarget): HostTarget | undefined {
    const address = parseHostAddress(written);
    if (!address) {
      this.#complain(
        "ansible_ssh_common_args",
        `${written} is not a jump host of the form user@address:port`,
      );
      return undefined;
    }
    const { sudoPasswordFile: _, connection: __, ...rest } = base;
    return {
      ...rest,
      host: address.address,
      address: address.address,
      port: address.port ?? 22,
      user: address.user ?? base.user,
      defaulted: [
        ...(address.user === undefined && base.defaulted?.includes("user") ? (["user"] as const) : []),
        ...(address.port === undefined ? (["port"] as const) : []),
      ],
    };
  }

  #profile(): string | undefined {
    const found = profileOfGroups(this.#merged.groups);
    if (found.length > 1)
      this.#model.complain(
        this.#host,
        `${this.#host.name} is in groups of several profiles: ${found.join(", ")}; set escapement_profile`,
      );
    return found[0];
  }

  #jump(): readonly string[] | undefined {
    const own = this.#text("escapement_jump");
    if (own !== undefined) return own.split(/[\s,]+/).filter((hop) => hop !== "");
    for (const name of ["ansible_ssh_common_args", "ansible_ssh_extra_args"]) {
      const written = this.#text(name);
      if (written === undefined) continue;
      const jump = jumpOfArguments(written);
      if (jump) return jump;
      this.#notes.add(`${name} is not used: ${written.slice(0, 80)}`);
    }
    return undefined;
  }

  #port(): number | undefined {
    const variable = this.#first("ansible_port", "ansible_ssh_port");
    if (!variable) return undefined;
    const port = Number(variable.value);
    if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
    this.#model.complain(variable, "ansible_port must be a whole number from 1 to 65535");
    return undefined;
  }

  /** @returns undefined where it is not set; what cannot be used is a problem */
  #text(...names: string[]): string | undefined {
    const variable = this.#first(...names);
    if (!variable) return undefined;
    const { value } = variable;
    if (typeof value !== "string" && typeof value !== "number") {
      this.#model.complain(variable, `${names[0]} must be text`);
      return undefined;
    }
    const text = String(value);
    if (/\{\{|\{%/.test(text)) {
      this.#model.complain(
        variable,
        `${names[0]} holds a template, which only Ansible can read; write the value`,
      );
      return undefined;
    }
    return text === "" ? undefined : text;
  }

  #first(...names: string[]): AnsibleVariable | undefined {
    return names.map((name) => this.#merged.variables.get(name)).find((variable) => variable !== undefined);
  }

  #complain(name: string, message: string): void {
    this.#model.complain(this.#merged.variables.get(name) ?? this.#host, message);
  }
}
