/** Sizes, speeds and lists of processors as tools print them. */

const binary: Record<string, number> = { k: 1, m: 2, g: 3, t: 4, p: 5 };

/**
 * "16 GB", "2048MB", "512 KiB", "32K": powers of 1,024, as firmware tables and
 * RAID tools mean them. "No Module Installed" and the like: undefined.
 */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(?:([kmgtp])i?b?|b|bytes?)$/i.exec(text.trim());
  if (!match) return undefined;
  return Math.round(Number(match[1]) * 1024 ** (binary[match[2]?.toLowerCase() ?? ""] ?? 0));
}

/** "2933 MT/s", "2666 MHz" (older tables; a module's MHz there are transfers); "Unknown": undefined. */
export function parseTransfers(text: string): number | undefined {
  const match = /^(\d+)\s*(MT\/s|MHz)$/.exec(text.trim());
  return match && Number(match[1]) > 0 ? Number(match[1]) : undefined;
}

/** "0-3,8,10-11" or "0 1 2" as numbers; an empty list is a list; undefined where the text is neither. */
export function parseCpuList(text: string): number[] | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  const cpus: number[] = [];
  for (const part of trimmed.split(/[\s,]+/)) {
    const match = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part);
    if (!match) return undefined;
    const from = Number(match[1]);
    const to = Number(match[2] ?? match[1]);
    if (to < from || to - from > 100_000) return undefined;
    for (let cpu = from; cpu <= to; cpu++) cpus.push(cpu);
  }
  return cpus;
}

/** Answered polls of the last 8 out of chrony's reach register, which is written in octal: "377" is 8. */
export function parseReach(octal: string): number | undefined {
  if (!/^[0-7]{1,3}$/.test(octal)) return undefined;
  const register = Number.parseInt(octal, 8);
  if (register > 255) return undefined;
  let answered = 0;
  for (let bit = 0; bit < 8; bit++) answered += (register >> bit) & 1;
  return answered;
}

/** A whole number of at least zero, and nothing else in the text. */
export function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : undefined;
}

/** A plain decimal number with sign and fraction. */
export function parseDecimal(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim())
    ? Number(text.trim())
    : undefined;
}
