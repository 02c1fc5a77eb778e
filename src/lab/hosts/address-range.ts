/** A private /24 for every lab, which no interface, route or other lab of this machine uses. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { labsFolder } from "./lab-place.ts";
import { mustRun } from "./run-program.ts";

const claims = join(labsFolder, ".networks");

/** How many ranges are tried, from one that follows from the name. */
const tries = 500;

/**
 * Claims a range for the lab `name`. @returns its first three numbers, for example `10.73.5`
 * @throws E_LAB_STEP when hundreds are taken
 */
export async function claimRange(name: string): Promise<string> {
  const used = await usedRanges();
  mkdirSync(claims, { recursive: true, mode: 0o700 });
  const start = createHash("sha256").update(name).digest().readUInt16BE(0);
  for (let i = 0; i < tries; i += 1) {
    // 10.64.0 to 10.127.255: seldom used, and outside of what container engines take.
    const number = (start + i * 97) % (64 * 256);
    const range = `10.${64 + Math.floor(number / 256)}.${number % 256}`;
    if (used.some((one) => overlaps(one, range))) continue;
    try {
      writeFileSync(join(claims, range), name, { flag: "wx" });
      return range;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  throw new EscapementError("E_LAB_STEP", { step: "choosing addresses", reason: "no free range found" });
}

export function releaseRanges(name: string): void {
  for (const range of list(claims)) {
    if (readOrNothing(join(claims, range)) === name) rmSync(join(claims, range), { force: true });
  }
  try {
    rmdirSync(claims);
  } catch {
    // Another lab's claim is in it, or it was never made.
  }
}

/** `[first, last]` address of every route and interface, as numbers; default routes lead everywhere and count not. */
async function usedRanges(): Promise<[number, number][]> {
  const routes = await mustRun(["ip", "-4", "route", "show", "table", "all"]);
  const addresses = await mustRun(["ip", "-4", "-o", "address", "show"]);
  const found = `${routes}\n${addresses}`.matchAll(/\b(\d+\.\d+\.\d+\.\d+)(?:\/(\d+))?/g);
  return [...found].map(([, address = "", bits]) => {
    const size = 2 ** (32 - Number(bits ?? 32));
    const first = Math.floor(toNumber(address) / size) * size;
    return [first, first + size - 1];
  });
}

function overlaps([first, last]: [number, number], range: string): boolean {
  const start = toNumber(`${range}.0`);
  return first <= start + 255 && last >= start;
}

function toNumber(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
