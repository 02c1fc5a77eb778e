/** Options of a mount point: in /etc/fstab and as mounted. */
import type { Probe } from "../../bundle/probe.ts";
import { isUnknown } from "../../bundle/reading.ts";
import type { MountOptionResource } from "../../resource.ts";
import { cannotTell, fine, type JudgeContext, type Judged } from "../judged.ts";
import type { Step } from "../step.ts";
import { unifiedDiff } from "../unified-diff.ts";

const fstab = "/etc/fstab";

/** Options of which only one can hold. */
const rivals = [
  ["noatime", "relatime", "strictatime", "atime"],
  ["ro", "rw"],
  ["exec", "noexec"],
  ["suid", "nosuid"],
  ["dev", "nodev"],
  ["discard", "nodiscard"],
];

export function mountProbes({ mountPoint }: MountOptionResource): Probe[] {
  return [
    { kind: "path", path: fstab, wanted: "always" },
    { kind: "mount", mountPoint },
  ];
}

export function judgeMountOption(wanted: MountOptionResource, { reading, drafts }: JudgeContext): Judged {
  const { mountPoint, options } = wanted;
  const file = reading.path(fstab);
  if (isUnknown(file)) return cannotTell(file);
  const before = drafts.get(fstab) ?? reading.content(fstab);
  if (file === "absent" || before === undefined) return cannotTell(`${fstab} cannot be read`);
  const after = withOptions(before, mountPoint, options);
  if (after === undefined) return cannotTell(`${fstab} has no line for ${mountPoint}`);
  const mounted = reading.mount(mountPoint);
  if (isUnknown(mounted)) return cannotTell(mounted);
  if (mounted === "absent") return cannotTell(`nothing is mounted at ${mountPoint}`);
  const steps: Step[] = [];
  if (after !== before) {
    const { owner, group, mode } = file;
    steps.push({ do: "place", path: fstab, content: after, owner, group, mode });
    drafts.set(fstab, after);
  }
  const lacking = options.filter((option) => shows(option) && !mounted.options.includes(option));
  if (lacking.length > 0) {
    const remount = (list: readonly string[]) => ["mount", "-o", `remount,${list.join(",")}`, mountPoint];
    const old = mounted.options.filter(shows);
    steps.push({
      do: "run",
      name: `remount ${mountPoint}`,
      argv: remount(options.filter(shows)),
      undo: remount(old),
    });
  }
  if (steps.length === 0) return fine;
  const diff = after === before ? undefined : unifiedDiff(before, after, fstab);
  const lines =
    lacking.length > 0 ? [`mounted ${mounted.options.join(",")} → with ${lacking.join(",")}`] : [];
  return { state: "diff", lines, ...(diff && { diff }), steps };
}

/** Whether the kernel lists the option; the others are for mount(8) and systemd only. */
function shows(option: string): boolean {
  return !/^(?:nofail|noauto|auto|users?|defaults|_netdev|comment|x-.*)(?:=|$)/.test(option);
}

/** The text with these options on the mount point's line; undefined where there is none. */
function withOptions(text: string, mountPoint: string, options: readonly string[]): string | undefined {
  let found = false;
  const lines = text.split("\n").map((line) => {
    const fields = /^(\s*[^#\s]\S*\s+(\S+)\s+\S+\s+)(\S+)(.*)$/.exec(line);
    if (!fields || fields[2] !== mountPoint) return line;
    found = true;
    const [, head = "", , now = "", rest = ""] = fields;
    let list = now.split(",");
    for (const option of options) {
      if (list.includes(option)) continue;
      const rival = rivals.find((one) => one.includes(option)) ?? [];
      const name = option.includes("=") ? `${option.split("=", 1)[0]}=` : undefined;
      list = list.filter((one) => !rival.includes(one) && !(name && one.startsWith(name)));
      list.push(option);
    }
    return `${head}${list.join(",")}${rest}`;
  });
  return found ? lines.join("\n") : undefined;
}
