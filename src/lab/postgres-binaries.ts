/** Finds PostgreSQL's server programs: the system's, else those that `npm run setup` fetched. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { EscapementError } from "../base/errors.ts";
import { packageRoot } from "./package-root.ts";
import { canEnter, type UnixUser } from "./unprivileged-user.ts";

export interface PostgresBinaries {
  /** Folder with `initdb` and `postgres`. */
  readonly folder: string;
  /** Major version, for example 15. */
  readonly major: number;
  readonly source: "named" | "system" | "path" | "embedded";
}

/** The record store's own lower limit. */
const oldestMajor = 15;

/** Where scripts/setup.mjs puts the programs from the npm registry, below the package's root. */
const embeddedFolder = "node_modules/.cache/escapement/postgres";

/**
 * Looks, in this order: the folder named by ESCAPEMENT_POSTGRES_BIN, the newest
 * in /usr/lib/postgresql, PATH, the embedded programs.
 * @param only allows one source alone; default: ESCAPEMENT_POSTGRES_SOURCE, where set
 * @throws E_PROGRAM_MISSING when none of them has version 15 or newer
 */
export function findPostgres(
  user: UnixUser | undefined,
  only = process.env.ESCAPEMENT_POSTGRES_SOURCE,
): PostgresBinaries {
  const named = process.env.ESCAPEMENT_POSTGRES_BIN;
  const candidates: [PostgresBinaries["source"], () => string[]][] = named
    ? [["named", () => [named]]]
    : [
        ["system", systemFolders],
        ["path", () => (process.env.PATH ?? "").split(delimiter)],
        ["embedded", () => embeddedFolders(user)],
      ];
  for (const [source, folders] of candidates) {
    if (only && !named && source !== only) continue;
    for (const folder of folders()) {
      const major = majorVersion(folder);
      if (major !== undefined && major >= oldestMajor) return { folder, major, source };
    }
  }
  throw new EscapementError("E_PROGRAM_MISSING", {
    program: `a PostgreSQL server (version ${oldestMajor} or newer${named ? `, in ${named}` : ""})`,
    hint: "npm run setup -- --for demo fetches one into node_modules; or on Debian: apt-get install postgresql",
  });
}

/** Debian keeps every version in a folder of its own; newest first. */
function systemFolders(): string[] {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => /^\d+$/.test(name))
    .sort((a, b) => Number(b) - Number(a))
    .map((name) => join(root, name, "bin"));
}

function majorVersion(folder: string): number | undefined {
  const program = join(folder, "postgres");
  if (!existsSync(program) || !existsSync(join(folder, "initdb"))) return undefined;
  try {
    const text = execFileSync(program, ["--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const match = /\(PostgreSQL\) (\d+)/.exec(text);
    return match ? Number(match[1]) : undefined;
  } catch {
    return undefined;
  }
}

/** The fetched programs; copied to a place of root's when the lent user cannot enter the checkout. */
function embeddedFolders(user: UnixUser | undefined): string[] {
  const root = packageRoot();
  const base = root === undefined ? undefined : join(root, embeddedFolder);
  if (base === undefined || !existsSync(base)) return [];
  return readdirSync(base)
    .filter((version) => existsSync(join(base, version, "bin/postgres")))
    .sort()
    .reverse()
    .map((version) => {
      const home = join(base, version);
      return join(canEnter(home, user) ? home : sharedCopy(home, version), "bin");
    });
}

function sharedCopy(home: string, version: string): string {
  const target = join("/var/cache/escapement/postgres", version);
  if (existsSync(join(target, "bin/postgres"))) return target;
  const partial = `${target}.${process.pid}`;
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  cpSync(home, partial, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(partial, target);
  } catch {
    // Another process was quicker; its copy is as good.
    rmSync(partial, { recursive: true, force: true });
  }
  return target;
}
