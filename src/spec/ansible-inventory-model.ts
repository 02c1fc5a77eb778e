/** An Ansible inventory before it is merged: groups with hosts, variables and children, each with its place. */
import type { Position, Problem } from "./problem.ts";

export interface AnsibleVariable extends Position {
  readonly value: unknown;
}

export type AnsibleVariables = Map<string, AnsibleVariable>;

export interface AnsibleGroup {
  readonly name: string;
  readonly hosts: Set<string>;
  /** Names of groups, with the place where each is named. */
  readonly children: Map<string, Position>;
  readonly variables: AnsibleVariables;
  /** False as long as it is only named as a child. */
  defined: boolean;
}

export interface AnsibleHost extends Position {
  readonly name: string;
  readonly variables: AnsibleVariables;
}

/** A host in a group can be named by thousands of patterns; more is a mistake in a range. */
const mostHosts = 10_000;

export class AnsibleModel {
  readonly groups = new Map<string, AnsibleGroup>();
  readonly hosts = new Map<string, AnsibleHost>();
  readonly problems: Problem[] = [];

  group(name: string): AnsibleGroup {
    let group = this.groups.get(name);
    if (!group) {
      group = { name, hosts: new Set(), children: new Map(), variables: new Map(), defined: false };
      this.groups.set(name, group);
    }
    return group;
  }

  /** Adds a host, or variables to one that is there already. */
  addHost(name: string, group: AnsibleGroup, at: Position, variables: AnsibleVariables): void {
    if (!/^[A-Za-z0-9:][A-Za-z0-9._:-]{0,252}$/.test(name)) {
      this.complain(at, `${JSON.stringify(name).slice(0, 80)} is not a name of a host`);
      return;
    }
    let host = this.hosts.get(name);
    if (!host) {
      if (this.hosts.size >= mostHosts) {
        if (this.hosts.size === mostHosts && this.problems.length === 0)
          this.complain(at, `there are more than ${mostHosts} hosts`);
        return;
      }
      host = { name, variables: new Map(), file: at.file, line: at.line, column: at.column };
      this.hosts.set(name, host);
    }
    for (const [key, value] of variables) host.variables.set(key, value);
    group.hosts.add(name);
  }

  complain({ file, line, column }: Position, message: string, path = ""): void {
    this.problems.push({ file, line, column, path, message });
  }
}
