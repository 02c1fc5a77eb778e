/** Reads the machine this runs on: files and commands, each with a time limit; what is missing says why. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Reading } from "../../../capacity/acceptance/verdict.ts";

/** A management controller takes some seconds to answer. */
const commandTimeoutMs = 10_000;

export function readFileText(path: string): Reading {
  try {
    return { text: readFileSync(path, "utf8"), reason: "" };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      text: undefined,
      reason: `${path}: ${code === "ENOENT" ? "not there" : (code ?? "not readable")}`,
    };
  }
}

/** Standard output of a command that ended well. */
export function readCommand(program: string, args: readonly string[]): Promise<Reading> {
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { timeout: commandTimeoutMs, maxBuffer: 16 << 20, env: { ...process.env, LC_ALL: "C" } },
      (error, stdout, stderr) => {
        if (!error) return resolve({ text: stdout, reason: "" });
        const { code, killed } = error as NodeJS.ErrnoException & { killed?: boolean };
        const why =
          String(code) === "ENOENT"
            ? "not installed"
            : killed
              ? `no answer in ${commandTimeoutMs / 1_000} s`
              : (stderr || stdout).trim().split("\n")[0] || `ended with ${code}`;
        resolve({ text: undefined, reason: `${program}: ${why}` });
      },
    );
  });
}

/** The first of several commands that works; else all their reasons. */
export async function readAnyCommand(
  commands: readonly (readonly [program: string, args: readonly string[]])[],
): Promise<Reading> {
  const reasons: string[] = [];
  for (const [program, args] of commands) {
    const reading = await readCommand(program, args);
    if (reading.text !== undefined) return reading;
    reasons.push(reading.reason);
  }
  return { text: undefined, reason: reasons.join(", ") };
}

/** Memory controllers that the kernel watches for errors. */
export function readEdac(): Reading {
  const folder = "/sys/devices/system/edac/mc";
  try {
    return {
      text: readdirSync(folder)
        .filter((name) => /^mc\d+$/.test(name))
        .join(" "),
      reason: `${folder}: empty`,
    };
  } catch {
    return { text: undefined, reason: `${folder}: not there` };
  }
}

/** PCI devices of class 0104, one a line. */
export function readRaidControllers(): Reading {
  const folder = "/sys/bus/pci/devices";
  try {
    const found = readdirSync(folder).filter((device) =>
      (readFileText(join(folder, device, "class")).text ?? "").startsWith("0x0104"),
    );
    return { text: found.join("\n"), reason: "" };
  } catch {
    return { text: undefined, reason: `${folder}: not there` };
  }
}

/** Name, carrier and speed of every interface. */
export function readLinks(): Reading {
  const folder = "/sys/class/net";
  try {
    const lines = readdirSync(folder).map((name) => {
      const value = (file: string) => (readFileText(join(folder, name, file)).text ?? "").trim() || "-";
      return `${name} ${value("carrier")} ${value("speed")}`;
    });
    return { text: lines.join("\n"), reason: "" };
  } catch {
    return { text: undefined, reason: `${folder}: not there` };
  }
}

/** The name behind /etc/localtime, which every distribution keeps. */
export function readTimeZone(): Reading {
  try {
    const [, name] = /zoneinfo\/(.+)$/.exec(readlinkSync("/etc/localtime")) ?? [];
    if (name) return { text: name, reason: "" };
  } catch {
    // Not a link: fall through to the other file.
  }
  const file = readFileText("/etc/timezone");
  return file.text === undefined
    ? { text: undefined, reason: "/etc/localtime is no link into zoneinfo, and /etc/timezone is not there" }
    : file;
}
