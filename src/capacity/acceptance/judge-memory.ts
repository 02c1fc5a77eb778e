/** Memory: size, error correction, speed; from the firmware's table, else from the kernel. */
import { formatValue } from "../format.ts";
import { fail, pass, passIf, type Reading, unknown, type Verdict } from "./verdict.ts";

interface Module {
  readonly bytes: number;
  readonly ratedSpeed: number | undefined;
  readonly runsAt: number | undefined;
}

/** Modules that are there, out of `dmidecode -t 17`. */
export function parseModules(text: string): Module[] {
  return text
    .split(/\n\s*\n/)
    .filter((block) => /Memory Device/.test(block))
    .flatMap((block) => {
      const size = /^\s*Size:\s*(\d+)\s*(kB|MB|GB|TB)/m.exec(block);
      if (!size) return [];
      const scale = { kB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 }[
        size[2] as "kB" | "MB" | "GB" | "TB"
      ];
      return [
        {
          bytes: Number(size[1]) * scale,
          ratedSpeed: speed(block, "Speed"),
          runsAt: speed(block, "Configured (?:Memory|Clock) Speed"),
        },
      ];
    });
}

function speed(block: string, label: string): number | undefined {
  const value = new RegExp(`^\\s*${label}:\\s*(\\d+)\\s*(?:MT/s|MHz)`, "m").exec(block)?.[1];
  return value === undefined ? undefined : Number(value);
}

/** Part of installed memory that the kernel and the firmware keep for themselves, at most. */
const hiddenShare = 0.07;

/** @param smbios `dmidecode -t 17`. @param meminfo /proc/meminfo */
export function judgeMemory(smbios: Reading, meminfo: Reading, leastBytes: number): Verdict {
  const modules = smbios.text === undefined ? [] : parseModules(smbios.text);
  if (modules.length > 0) {
    const bytes = modules.reduce((sum, module) => sum + module.bytes, 0);
    return passIf(bytes >= leastBytes, `${modules.length} modules, ${formatValue(bytes, "memory")}`);
  }
  const kilobytes = /^MemTotal:\s*(\d+)\s*kB/m.exec(meminfo.text ?? "")?.[1];
  if (kilobytes === undefined) return unknown(`${smbios.reason}; ${meminfo.reason}`);
  const bytes = Number(kilobytes) * 1_024;
  const seen = `the kernel sees ${formatValue(bytes, "memory")}`;
  if (bytes >= leastBytes) return pass(seen);
  if (bytes < leastBytes * (1 - hiddenShare)) return fail(seen);
  return unknown(`${seen}; the modules could not be listed (${smbios.reason})`);
}

/** @param smbios `dmidecode -t 16`. @param edac the kernel's list of memory controllers that correct errors */
export function judgeEcc(smbios: Reading, edac: Reading): Verdict {
  const types = [...(smbios.text ?? "").matchAll(/^\s*Error Correction Type:\s*(.+)$/gm)].map(([, type]) =>
    type!.trim(),
  );
  if (types.some((type) => /^(Single|Multi)-bit ECC$/i.test(type)))
    return pass(`the firmware says ${types.join(", ")}`);
  if (types.length > 0 && types.every((type) => /^(None|Parity)$/i.test(type)))
    return fail(`the firmware says ${types.join(", ")}`);
  if (edac.text !== undefined && edac.text.trim() !== "")
    return pass(`the kernel watches ${edac.text.trim().split(/\s+/).join(", ")}`);
  return unknown(
    types.length > 0 ? `the firmware says ${types.join(", ")}` : `${smbios.reason}; ${edac.reason}`,
  );
}

/** @param smbios `dmidecode -t 17` */
export function judgeMemorySpeed(smbios: Reading): Verdict {
  if (smbios.text === undefined) return unknown(smbios.reason);
  const modules = parseModules(smbios.text);
  if (modules.length === 0) return unknown("the firmware lists no memory module");
  const slow = modules.filter(
    ({ ratedSpeed, runsAt }) => ratedSpeed !== undefined && runsAt !== undefined && runsAt < ratedSpeed,
  );
  if (slow.length > 0)
    return fail(
      `${slow.length} of ${modules.length} modules run at ${slow[0]!.runsAt} in place of ${slow[0]!.ratedSpeed} MT/s`,
    );
  const sizes = new Set(modules.map(({ bytes }) => bytes));
  if (sizes.size > 1) return fail(`modules of ${sizes.size} sizes`);
  if (modules.some(({ ratedSpeed, runsAt }) => ratedSpeed === undefined || runsAt === undefined))
    return unknown("the firmware does not tell the speed of every module");
  return pass(`${modules.length} modules at ${modules[0]!.runsAt} MT/s, their rated speed`);
}
