/**
 * How virtual machines run here: by the processor (KVM), or emulated (TCG). That
 * /dev/kvm can be opened proves nothing, some machines hang every ordinary guest:
 * only a kernel that has said its first words does.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { runProgram } from "../hosts/run-program.ts";
import type { VmImage } from "./vm-image.ts";

export type Accelerator = "kvm" | "tcg";

/** A kernel that KVM runs says its name within a second. */
const probeLimitMs = 8_000;

const probed = new Map<string, Promise<Accelerator>>();

/** Why there can be no virtual machine here at all; undefined when there can. Starts nothing. */
export function whyNoMachines(): string | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return "virtual machines need Linux on x86-64";
  const folders = (process.env.PATH ?? "").split(delimiter);
  for (const [program, name] of [
    ["qemu-system-x86_64", "qemu-system-x86"],
    ["qemu-img", "qemu-utils"],
  ] as const)
    if (!folders.some((folder) => folder !== "" && existsSync(join(folder, program))))
      return `missing: ${program} (package ${name})`;
  if (!existsSync("/dev/net/tun")) return "the kernel has no tap devices (/dev/net/tun)";
  return undefined;
}

/** Boots the image's kernel under KVM until it speaks, or the time is over. Once a process. */
export function accelerator(image: VmImage): Promise<Accelerator> {
  let answer = probed.get(image.key);
  if (answer === undefined) {
    answer = probe(image);
    probed.set(image.key, answer);
  }
  return answer;
}

async function probe(image: VmImage): Promise<Accelerator> {
  if (!existsSync("/dev/kvm")) return "tcg";
  const folder = mkdtempSync(join(tmpdir(), "escapement-kvm-"));
  const serial = join(folder, "serial");
  try {
    // `panic=-1` with nothing to boot from: a working kernel speaks, panics and ends the machine.
    await runProgram(
      [
        ...["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"],
        ...["-M", "pc", "-m", "256", "-accel", "kvm", "-cpu", "host,-arch-capabilities"],
        ...["-kernel", image.kernel, "-append", "console=ttyS0 earlyprintk=serial panic=-1"],
        ...["-serial", `file:${serial}`],
      ],
      { deadlineMs: probeLimitMs },
    );
    return existsSync(serial) && readFileSync(serial, "latin1").includes("Linux version") ? "kvm" : "tcg";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
