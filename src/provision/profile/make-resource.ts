/** Resources with the values that most of them share. */
import type {
  DirectoryResource,
  FileResource,
  GroupResource,
  PackageResource,
  Provenance,
  Restart,
  Risk,
  SysctlResource,
  UnitResource,
  UserResource,
  Validator,
} from "../resource.ts";

interface Extra {
  readonly risk?: Risk;
  readonly after?: readonly string[];
  readonly restarts?: readonly Restart[];
  readonly provenance?: readonly Provenance[];
  readonly notPreviewable?: string;
  readonly unavailable?: string | undefined;
}

function shared(id: string, noop: string, extra: Extra) {
  const { risk = "low", after = [], restarts = [], provenance = [], notPreviewable, unavailable } = extra;
  return {
    id,
    risk,
    noop,
    after,
    restarts,
    provenance,
    ...(notPreviewable !== undefined && { notPreviewable }),
    ...(unavailable !== undefined && { unavailable }),
  };
}

/** The first line of every file we write. */
export const fileHead = "# Written by escapement from the host's profile. Changes made here are overwritten.";

export interface FileText extends Extra {
  readonly content: string;
  readonly mode?: number;
  readonly owner?: string;
  readonly group?: string;
  readonly validator?: Validator;
  /** The file must not be there. */
  readonly absent?: true;
  /** No plan, diff or log shows the content. */
  readonly secret?: boolean;
}

export function file(path: string, text: FileText): FileResource {
  const { content, mode = 0o644, owner = "root", group = "root", validator, absent, secret } = text;
  return {
    ...shared(`file:${path}`, absent ? `${path} is not there` : `${path} is as described`, text),
    kind: "file",
    path,
    content,
    owner,
    group,
    mode,
    ...(validator && { validator }),
    ...(absent && { absent }),
    ...(secret && { secret }),
  };
}

/** A file of ours: our first line, then the lines. */
export function linesFile(
  path: string,
  text: Omit<FileText, "content"> & { readonly lines: readonly string[] },
): FileResource {
  return file(path, { ...text, content: `${[fileHead, ...text.lines].join("\n")}\n` });
}

export function directory(
  path: string,
  rest: Extra & { readonly mode?: number; readonly owner?: string; readonly group?: string } = {},
): DirectoryResource {
  const { mode = 0o755, owner = "root", group = "root" } = rest;
  return {
    ...shared(`directory:${path}`, `${path} is there, with its owner and mode`, rest),
    kind: "directory",
    path,
    owner,
    group,
    mode,
  };
}

export function packageOf(
  name: string,
  rest: Extra & { readonly state?: "installed" | "absent" } = {},
): PackageResource {
  const { state = "installed" } = rest;
  return {
    ...shared(`package:${name}`, `${name} is ${state}`, rest),
    kind: "package",
    name,
    state,
  };
}

export function systemGroup(name: string, rest: Extra = {}): GroupResource {
  return { ...shared(`group:${name}`, `group ${name} exists`, rest), kind: "group", name, system: true };
}

export function systemUser(
  name: string,
  rest: Extra & { readonly group?: string; readonly groups?: readonly string[]; readonly home?: string } = {},
): UserResource {
  const { group = name, groups = [], home = "/nonexistent" } = rest;
  return {
    ...shared(`user:${name}`, `user ${name} exists`, {
      ...rest,
      after: [`group:${group}`, ...groups.map((one) => `group:${one}`), ...(rest.after ?? [])],
    }),
    kind: "user",
    name,
    system: true,
    group,
    groups,
    home,
    shell: "/usr/sbin/nologin",
  };
}

/** A user that the host has from elsewhere. */
export function existingUser(name: string, rest: Extra = {}): UserResource {
  const nothing = { group: "", groups: [], home: "", shell: "" };
  return {
    ...shared(`user:${name}`, `user ${name} exists`, rest),
    kind: "user",
    name,
    system: false,
    mustExist: true,
    ...nothing,
  };
}

export function sysctl(key: string, value: string | number, rest: Extra = {}): SysctlResource {
  return {
    ...shared(`sysctl:${key}`, `${key} is ${value}`, rest),
    kind: "sysctl",
    key,
    value: String(value),
  };
}

export function unit(
  name: string,
  state: Extra & { readonly enabled?: boolean | "masked"; readonly running?: boolean },
): UnitResource {
  const { enabled = true, running = true } = state;
  const words =
    enabled === "masked"
      ? "masked"
      : `${enabled ? "enabled" : "disabled"} and ${running ? "running" : "stopped"}`;
  return { ...shared(`unit:${name}`, `${name} is ${words}`, state), kind: "unit", name, enabled, running };
}
