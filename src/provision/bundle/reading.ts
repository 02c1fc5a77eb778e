/** The facts of one host, parsed once. What could not be looked at is unknown, never absent. */
import { type HostPaths, sysctlFile } from "./probe.ts";

export interface Unknown {
  readonly unknown: string;
}
export type Seen<T> = T | "absent" | Unknown;

export interface PathFact {
  readonly type: "file" | "directory" | "link" | "other";
  /** Permission bits. */
  readonly mode: number;
  readonly owner: string;
  readonly group: string;
  /** Of a symbolic link. */
  readonly target: string | undefined;
  /** Seconds since 1970 by the host's clock. */
  readonly modifiedAt: number;
}
export interface PackageFact {
  /** dpkg's word: installed, config-files, half-installed, … */
  readonly status: string;
  readonly version: string;
}
export interface UnitFact {
  readonly load: string;
  /** enabled, disabled, masked, static, …; empty for a unit without a file. */
  readonly file: string;
  readonly active: string;
  /** Seconds since boot at which it became active; 0 where it never was. */
  readonly activeSince: number;
}
export interface UserFact {
  readonly uid: number;
  readonly group: string;
  /** Supplementary groups, sorted. */
  readonly groups: readonly string[];
  readonly home: string;
  readonly shell: string;
}
export interface MountFact {
  readonly options: readonly string[];
}
export interface TableFact {
  readonly listed: string;
  /** Empty where we never loaded it. */
  readonly loaded: string;
}
export interface PendingRestart {
  readonly unit: string;
  readonly action: string;
  readonly reason: string;
}

/** Lines that many hosts say alike are one string; a fleet says most of them alike. */
const said = new Map<string, string>();
const mostSaid = 50_000;

/** Kinds of lines that are read once, at the beginning. */
const elsewhere = new Set(["end", "pending", "txn", "host"]);

function shared(line: string): string {
  const known = said.get(line);
  if (known !== undefined) return known;
  if (said.size >= mostSaid) said.clear();
  said.set(line, line);
  return line;
}

export class Reading {
  readonly lines: readonly string[];
  readonly #ends = new Map<string, string>();
  /** Made of the lines when it is asked for. */
  #index: Map<string, string[]> | undefined;
  readonly pending: readonly PendingRestart[];
  readonly transactions: readonly { readonly id: string; readonly state: string }[];
  readonly bootId: string | undefined;
  /** Seconds since 1970 at which the host booted, by its clock as it is now; undefined where unknown. */
  readonly bootedAt: number | undefined;
  /** Seconds since 1970 by the host's clock when it answered; undefined where unknown. */
  readonly clockSeconds: number | undefined;

  constructor(
    lines: readonly string[],
    readonly paths: HostPaths,
  ) {
    this.lines = lines.map(shared);
    const pending: PendingRestart[] = [];
    const transactions: { id: string; state: string }[] = [];
    let host: string[] | undefined;
    for (const line of lines) {
      const [kind = "", ...values] = line.split("\t");
      const [key = ""] = values;
      if (kind === "end") this.#ends.set(key, values[1] ?? "");
      else if (kind === "pending") pending.push(pendingOf(values));
      else if (kind === "txn") transactions.push({ id: key, state: values[1] ?? "" });
      else if (kind === "host") host = values;
    }
    this.pending = pending;
    this.transactions = transactions;
    this.bootId = host?.[0];
    const up = Number(host?.[2]);
    const now = Number(host?.[3]);
    this.clockSeconds = Number.isFinite(now) ? now : undefined;
    this.bootedAt = Number.isFinite(up) && Number.isFinite(now) ? now - up : undefined;
  }

  /** Lets go of what can be made of the lines again: a fleet is looked at host by host, and kept whole. */
  rest(): void {
    this.#index = undefined;
  }

  get #facts(): Map<string, string[]> {
    if (this.#index) return this.#index;
    this.#index = new Map();
    for (const line of this.lines) {
      const [kind = "", ...values] = line.split("\t");
      if (!elsewhere.has(kind)) this.#keep(this.#index, kind, values, line);
    }
    return this.#index;
  }

  path(path: string): Seen<PathFact> {
    const full = this.paths.root + path;
    const found = this.#facts.get(`path\t${full}`);
    if (!found) return this.#none("path");
    if (found[0] === "absent") return "absent";
    const [type = "", mode = "", owner = "", group = "", name = "", , modified = ""] = found;
    const known = {
      "regular file": "file",
      "regular empty file": "file",
      directory: "directory",
      "symbolic link": "link",
    };
    return {
      type: (known as Record<string, PathFact["type"]>)[type] ?? "other",
      mode: Number.parseInt(mode, 8),
      owner,
      group,
      target: / -> '(.*)'$/.exec(name)?.[1],
      modifiedAt: Number(modified),
    };
  }

  /** SHA-256 of a regular file. */
  sum(path: string): string | Unknown {
    const sum = this.#facts.get(`sum\t${this.paths.root}${path}`)?.[0];
    return sum && /^[0-9a-f]{64}$/.test(sum) ? sum : { unknown: `cannot read ${path}` };
  }

  /** The content of a file that was asked for; undefined where it was not sent, or is not text, or too large. */
  content(path: string): string | undefined {
    const sent = this.#facts.get(`content\t${this.paths.root}${path}`)?.[0];
    if (sent === undefined) return undefined;
    const bytes = Buffer.from(sent, "base64");
    return bytes.length >= 65_536 || bytes.includes(0) ? undefined : bytes.toString("utf8");
  }

  package(name: string): Seen<PackageFact> {
    const found = this.#facts.get(`package\t${name}`);
    if (!found) return this.#none("package");
    return found[0] === "absent" ? "absent" : { status: found[0]!, version: found[1] ?? "" };
  }

  unit(name: string): UnitFact | Unknown {
    const found = this.#facts.get(`unit\t${name}`);
    if (!found) return { unknown: this.#reason("unit") ?? `systemd says nothing about ${name}` };
    const values = Object.fromEntries(found.map((pair) => pair.split(/=(.*)/s, 2) as [string, string]));
    return {
      load: values.LoadState ?? "",
      file: values.UnitFileState ?? "",
      active: values.ActiveState ?? "",
      activeSince: Number(values.ActiveEnterTimestampMonotonic ?? 0) / 1e6,
    };
  }

  group(name: string): Seen<{ readonly gid: number }> {
    const found = this.#facts.get(`group\t${name}`);
    return found ? { gid: Number(found[1]) } : this.#absentOr("group");
  }

  user(name: string): Seen<UserFact> {
    const found = this.#facts.get(`user\t${name}`);
    const groups = this.#facts.get(`groups-of\t${name}`);
    if (!found) return this.#absentOr("user");
    if (!groups) return { unknown: `cannot list the groups of ${name}` };
    const [group = "", all = ""] = groups;
    return {
      uid: Number(found[1]),
      group,
      groups: all
        .split(" ")
        .filter((one) => one !== "" && one !== group)
        .sort(),
      home: found[4] ?? "",
      shell: found[5] ?? "",
    };
  }

  /** The running value, with runs of blanks as one space. */
  sysctl(key: string): Seen<string> {
    const file = sysctlFile(key, this.paths);
    const found = this.#facts.get(`sysctl\t${file}`);
    if (found) return found.join(" ").trim().replace(/\s+/g, " ");
    if (this.#facts.has(`sysctl-missing\t${file}`)) return "absent";
    return { unknown: this.#reason("sysctl") ?? `${key} cannot be read` };
  }

  mount(mountPoint: string): Seen<MountFact> {
    const found = this.#facts.get(`mount\t${mountPoint}`);
    return found ? { options: (found[0] ?? "").split(",") } : this.#absentOr("mount");
  }

  kernelCommandLine(): readonly string[] | Unknown {
    const line = [...this.#facts.keys()].find((key) => key.startsWith("cmdline\t"));
    return line ? line.slice("cmdline\t".length).split(/\s+/) : { unknown: "cannot read /proc/cmdline" };
  }

  /** Every effective value of a directive of sshd. */
  sshd(name: string): readonly string[] | Unknown {
    const reason = this.#reason("sshd");
    if (reason) return { unknown: reason };
    const prefix = `sshd\t${name.toLowerCase()} `;
    return this.lines
      .filter((line) => line.toLowerCase().startsWith(prefix))
      .map((line) => line.slice(prefix.length));
  }

  table(table: string): Seen<TableFact> {
    const found = this.#facts.get(`table\t${table}`);
    if (!found) return { unknown: this.#facts.get(`table-failed\t${table}`)?.[0] ?? "nft did not answer" };
    return found[0] === "absent" ? "absent" : { listed: found[0]!, loaded: found[1] ?? "" };
  }

  #keep(facts: Map<string, string[]>, kind: string, values: readonly string[], line: string): void {
    const missing =
      /^stat: cannot (?:statx?|access) '(.*)': (?:No such file or directory|Not a directory)$/.exec(
        line,
      )?.[1] ?? /^dpkg-query: no packages found matching (.*)$/.exec(line)?.[1];
    if (missing !== undefined) {
      facts.set(`${line.startsWith("stat") ? "path" : "package"}\t${missing}`, ["absent"]);
      return;
    }
    const key = values[0] ?? "";
    if (kind === "unit") {
      const names = values.flatMap((pair) =>
        /^(?:Id|Names)=/.test(pair) ? pair.replace(/^\w+=/, "").split(" ") : [],
      );
      for (const name of names) facts.set(`unit\t${name}`, [...values]);
    } else if (kind === "group" || kind === "user") {
      const [name = "", , ...rest] = key.split(":");
      facts.set(`${kind}\t${name}`, ["", ...rest]);
    } else if (kind === "package") {
      // Of two architectures, the one that is installed counts.
      const before = facts.get(`package\t${key}`);
      if (before?.[0] !== "installed") facts.set(`package\t${key}`, values.slice(1));
    } else facts.set(`${kind}\t${key}`, values.slice(1));
  }

  #reason(section: string): string | undefined {
    const code = this.#ends.get(section);
    if (code === "0") return undefined;
    return code === undefined
      ? "was not asked for"
      : code === "127"
        ? "its program is not installed"
        : `could not look (exit ${code})`;
  }

  #none(section: string): Unknown {
    return { unknown: this.#reason(section) ?? "the host says nothing about it" };
  }

  /** For sections in which silence means absence, once the section is known to have worked. */
  #absentOr(section: string): "absent" | Unknown {
    const reason = this.#reason(section);
    return reason === undefined ? "absent" : { unknown: reason };
  }
}

export function isUnknown(value: unknown): value is Unknown {
  return typeof value === "object" && value !== null && "unknown" in value;
}

function pendingOf([unit = "", text = ""]: readonly string[]): PendingRestart {
  const [action = "restart", ...reason] = text.split(" ");
  return { unit, action, reason: reason.join(" ") };
}
