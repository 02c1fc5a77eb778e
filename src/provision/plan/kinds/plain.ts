/** Files, directories, packages, groups and users. */
import { isUnknown } from "../../bundle/reading.ts";
import type {
  DirectoryResource,
  FileResource,
  GroupResource,
  PackageResource,
  UserResource,
} from "../../resource.ts";
import { cannotTell, fine, type JudgeContext, type Judged } from "../judged.ts";
import { compareFile, type FileVerdict, ownershipChanges } from "./placed-file.ts";

export function judgeFile(file: FileResource, { reading }: JudgeContext): Judged {
  if (!file.absent) return fromVerdict(compareFile(file, reading));
  const found = reading.path(file.path);
  if (found === "absent") return fine;
  if (isUnknown(found)) return cannotTell(found);
  if (found.type === "directory") return cannotTell(`${file.path} is a directory`);
  return { state: "diff", lines: ["removed"], steps: [{ do: "remove", path: file.path }] };
}

export function fromVerdict({ lines, diff, steps, missing, unknown }: FileVerdict): Judged {
  if (unknown !== undefined) return cannotTell(unknown);
  if (steps.length === 0) return fine;
  return { state: missing ? "missing" : "diff", lines, ...(diff && { diff }), steps };
}

export function judgeDirectory(directory: DirectoryResource, { reading }: JudgeContext): Judged {
  const { path, owner, group, mode } = directory;
  const found = reading.path(path);
  if (isUnknown(found)) return cannotTell(found);
  const step = { do: "directory", path, owner, group, mode } as const;
  if (found === "absent") return { state: "missing", lines: ["new"], steps: [{ ...step, before: "absent" }] };
  if (found.type !== "directory") return cannotTell(`${path} is a ${found.type}, not a directory`);
  const lines = ownershipChanges(found, directory);
  if (lines.length === 0) return fine;
  const before = { owner: found.owner, group: found.group, mode: found.mode };
  return { state: "diff", lines, steps: [{ ...step, before }] };
}

export function judgePackage(wanted: PackageResource, { reading }: JudgeContext): Judged {
  const { name, version } = wanted;
  const found = reading.package(name);
  if (isUnknown(found)) return cannotTell(found);
  const installed = found !== "absent" && found.status === "installed" ? found : undefined;
  if (wanted.state === "absent")
    return installed
      ? { state: "diff", lines: [`remove ${installed.version}`], steps: [{ do: "uninstall", name }] }
      : fine;
  if (installed && (version === undefined || installed.version === version)) return fine;
  const step = { do: "install", name, ...(version !== undefined && { version }) } as const;
  const target = version ?? "the version that apt chooses";
  const notPreviewable = "which packages it pulls in, and the files and units they bring";
  return {
    state: installed ? "diff" : "missing",
    lines: [installed ? `${installed.version} → ${target}` : `install ${target}`],
    steps: [step],
    notPreviewable,
  };
}

export function judgeGroup({ name, system }: GroupResource, { reading }: JudgeContext): Judged {
  const found = reading.group(name);
  if (isUnknown(found)) return cannotTell(found);
  if (found !== "absent") return fine;
  return { state: "missing", lines: ["new"], steps: [{ do: "add-group", name, system }] };
}

export function judgeUser(user: UserResource, { reading }: JudgeContext): Judged {
  const { name, system, group, home, shell } = user;
  const groups = [...user.groups].filter((one) => one !== group).sort();
  const now = { group, groups, home, shell };
  const found = reading.user(name);
  if (isUnknown(found)) return cannotTell(found);
  if (user.mustExist) {
    if (found !== "absent") return fine;
    const line = "is not on this host, and nothing here makes it: whatever shall run as this user fails";
    return { state: "missing", lines: [line], steps: [] };
  }
  if (found === "absent")
    return { state: "missing", lines: ["new"], steps: [{ do: "add-user", name, system, ...now }] };
  const lines: string[] = [];
  const compare = (what: string, before: string, after: string) => {
    if (before !== after) lines.push(`${what} ${before || "none"} → ${after || "none"}`);
  };
  compare("group", found.group, group);
  compare("groups", found.groups.join(","), groups.join(","));
  compare("home", found.home, home);
  compare("shell", found.shell, shell);
  if (lines.length === 0) return fine;
  const before = { group: found.group, groups: found.groups, home: found.home, shell: found.shell };
  return { state: "diff", lines, steps: [{ do: "change-user", name, now, before }] };
}
