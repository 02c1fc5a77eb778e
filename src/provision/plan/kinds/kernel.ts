/** Kernel settings, words of the kernel command line, and the time zone. */
import type { Probe } from "../../bundle/probe.ts";
import { isUnknown } from "../../bundle/reading.ts";
import type { KernelParameterResource, SysctlResource, TimeZoneResource } from "../../resource.ts";
import { cannotTell, fine, type JudgeContext, type Judged } from "../judged.ts";
import { compareFile, fileProbe, rootFile, type WantedFile } from "./placed-file.ts";
import { fromVerdict } from "./plain.ts";

function sysctlDropIn({ key, value }: SysctlResource): WantedFile {
  // Late in the order, so that it wins over the distribution's own.
  return rootFile(`/etc/sysctl.d/90-escapement-${key.replaceAll("/", "-")}.conf`, `${key} = ${value}\n`);
}

export function sysctlProbes(wanted: SysctlResource): Probe[] {
  return [fileProbe(sysctlDropIn(wanted)), { kind: "sysctl", key: wanted.key }];
}

export function judgeSysctl(wanted: SysctlResource, { reading }: JudgeContext): Judged {
  const { key } = wanted;
  const value = wanted.value.trim().replace(/\s+/g, " ");
  const file = fromVerdict(compareFile(sysctlDropIn(wanted), reading));
  if (file.state === "unknown") return file;
  const running = reading.sysctl(key);
  if (running === "absent") return cannotTell(`the kernel has no ${key}`);
  if (isUnknown(running)) return cannotTell(running);
  if (running === value) return file;
  const set = (to: string) => ["sysctl", "-q", "-w", `${key}=${to}`];
  return {
    state: file.state === "missing" ? "missing" : "diff",
    lines: [`running ${running} → ${value}`],
    steps: [...file.steps, { do: "run", name: `sysctl ${key}`, argv: set(value), undo: set(running) }],
  };
}

function grubDropIn({ name, value }: KernelParameterResource): WantedFile {
  const path = `/etc/default/grub.d/60-escapement-${name.replaceAll("/", "-")}.cfg`;
  return rootFile(path, `GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX ${word({ name, value })}"\n`);
}

function word({ name, value }: { name: string; value: string }): string {
  return value === "" ? name : `${name}=${value}`;
}

export function kernelParameterProbes(wanted: KernelParameterResource): Probe[] {
  return [
    fileProbe(grubDropIn(wanted)),
    { kind: "kernel-command-line" },
    { kind: "path", path: "/usr/sbin/update-grub" },
  ];
}

export function judgeKernelParameter(wanted: KernelParameterResource, { reading }: JudgeContext): Judged {
  const file = fromVerdict(compareFile(grubDropIn(wanted), reading));
  if (file.state === "unknown") return file;
  const running = reading.kernelCommandLine();
  if (isUnknown(running)) return cannotTell(running);
  const needsReboot = !running.includes(word(wanted));
  if (file.state === "ok")
    return { ...fine, needsReboot, lines: needsReboot ? ["takes effect at the next boot"] : [] };
  const grub = reading.path("/usr/sbin/update-grub");
  if (isUnknown(grub)) return cannotTell(grub);
  if (grub === "absent") return cannotTell("the host has no update-grub: its boot loader is not known");
  const update = ["update-grub"];
  return {
    ...file,
    lines: [...file.lines, "takes effect at the next boot"],
    needsReboot,
    steps: [...file.steps, { do: "run", name: "update-grub", argv: update, undo: update }],
  };
}

export function timeZoneProbes({ zone }: TimeZoneResource): Probe[] {
  return [
    { kind: "path", path: "/etc/localtime" },
    { kind: "path", path: `/usr/share/zoneinfo/${zone}` },
    fileProbe(rootFile("/etc/timezone", `${zone}\n`)),
  ];
}

export function judgeTimeZone({ zone }: TimeZoneResource, { reading }: JudgeContext): Judged {
  const target = `/usr/share/zoneinfo/${zone}`;
  const data = reading.path(target);
  if (isUnknown(data)) return cannotTell(data);
  if (data === "absent") return cannotTell(`the host has no time-zone data for ${zone}`);
  const link = reading.path("/etc/localtime");
  if (isUnknown(link)) return cannotTell(link);
  const before = link === "absent" ? "none" : (link.target ?? "a file").replace(/^.*\/zoneinfo\//, "");
  const name = fromVerdict(compareFile(rootFile("/etc/timezone", `${zone}\n`), reading));
  if (name.state === "unknown") return name;
  if (before === zone) return name;
  return {
    state: "diff",
    lines: [`${before} → ${zone}`],
    steps: [{ do: "link", path: "/etc/localtime", target }, ...name.steps],
  };
}
