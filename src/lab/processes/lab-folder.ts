/** Where a lab of processes keeps its state: a folder that only its user can enter, gone with the lab. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { EscapementError } from "../../base/errors.ts";
import { checkLabName } from "../hosts/lab-place.ts";

const stateSchema = z.object({
  tier: z.literal("process"),
  /** The process that keeps the lab, and when it was started: a number alone may be another one's by now. */
  keeper: z.object({ pid: z.int(), startedAt: z.string() }),
  phase: z.enum(["starting", "up"]),
  outputFolder: z.string(),
});

export type ProcessLabState = z.output<typeof stateSchema>;

export class LabFolder {
  readonly path: string;
  readonly name: string;

  constructor(name: string) {
    this.name = checkLabName(name, "--name");
    this.path = join(root(), this.name);
  }

  get socket(): string {
    return join(this.path, "socket");
  }

  get log(): string {
    return join(this.path, "keeper.log");
  }

  /** @throws E_LAB_EXISTS, E_UNAVAILABLE when somebody else made the folder above it */
  claim(): void {
    mkdirSync(root(), { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(root());
    if (uid !== userInfo().uid || (mode & 0o077) !== 0)
      throw new EscapementError("E_UNAVAILABLE", {
        what: `${root()} can be entered by others`,
        hint: "remove it, or set XDG_RUNTIME_DIR to a folder of your own",
      });
    try {
      mkdirSync(this.path, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new EscapementError("E_LAB_EXISTS", { name: this.name });
    }
  }

  write(state: ProcessLabState): void {
    const file = join(this.path, "lab.json");
    writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  /** @returns undefined where there is none, or none that can be read */
  read(): ProcessLabState | undefined {
    try {
      return stateSchema.parse(JSON.parse(readFileSync(join(this.path, "lab.json"), "utf8")));
    } catch {
      return undefined;
    }
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
    try {
      rmdirSync(root());
    } catch {
      // Another lab is in it, or it is gone.
    }
  }
}

export function processLabNames(): string[] {
  try {
    return readdirSync(root()).sort();
  } catch {
    return [];
  }
}

/** A socket's path may have 107 bytes, so it lies near the root. */
function root(): string {
  const runtime = process.env.XDG_RUNTIME_DIR;
  return runtime ? join(runtime, "escapement-labs") : join(tmpdir(), `escapement-labs-${userInfo().uid}`);
}
