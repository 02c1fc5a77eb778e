/** Sizes as people write them (`512MiB`, `4GB`) and as the code keeps them (bytes). */
import { EscapementError } from "./errors.ts";

const factor: Record<string, number> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** Reads a size such as `512MiB` or `1.5GB`. @returns whole bytes. @throws E_BYTES */
export function parseBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kKMGT]?i?B)$/.exec(text.trim());
  const unit = match?.[2] === "KB" ? "kB" : match?.[2];
  const scale = unit === undefined ? undefined : factor[unit];
  if (!match || scale === undefined) throw new EscapementError("E_BYTES", { value: JSON.stringify(text) });
  return Math.round(Number(match[1]) * scale);
}

/** Writes bytes in the largest binary unit that keeps at least one whole digit. */
export function formatBytes(bytes: number): string {
  for (const unit of ["TiB", "GiB", "MiB", "KiB"]) {
    const scale = factor[unit]!;
    if (Math.abs(bytes) >= scale) return `${trim(bytes / scale)} ${unit}`;
  }
  return `${Math.round(bytes)} B`;
}

function trim(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}
