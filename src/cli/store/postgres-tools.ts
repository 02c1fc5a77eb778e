/** PostgreSQL's own programs for dumps: found, and run with the connection in the environment, never on the command line. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { EscapementError } from "../../base/errors.ts";

export type Tool = "pg_dump" | "pg_restore";

/** The newest there is: a dump program must not be older than its server. @throws E_PROGRAM_MISSING */
export function findTool(tool: Tool): string {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).filter((name) => /^\d+$/.test(name)) : [];
  const named = process.env.ESCAPEMENT_POSTGRES_BIN;
  const folders = [
    ...(named ? [named] : []),
    ...versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  const found = folders.map((folder) => join(folder, tool)).find((file) => existsSync(file));
  if (found) return found;
  throw new EscapementError("E_PROGRAM_MISSING", {
    program: tool,
    hint: "on Debian: apt-get install postgresql-client; or name its folder in ESCAPEMENT_POSTGRES_BIN",
  });
}

/** A URL may leave the host out where a socket is named as a parameter; this one gets a name in its place. */
export function readUrl(url: string): URL {
  return new URL(url.replace(/^(postgres(?:ql)?:\/\/(?:[^/@]*@)?)\//, "$1socket/"));
}

/** The same server, another database. */
export function inDatabase(url: string, name: string): string {
  const other = readUrl(url);
  other.pathname = `/${encodeURIComponent(name)}`;
  return other.hostname === "socket" ? other.href.replace("socket/", "/") : other.href;
}

/** A connection as libpq's environment has it: a password on a command line is seen by everybody. */
export function connectionEnvironment(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = readUrl(url);
  const parts: Record<string, string | null> = {
    PGHOST: searchParams.get("host") ?? decodeURIComponent(hostname),
    PGPORT: port || searchParams.get("port"),
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    PGSSLMODE: searchParams.get("sslmode"),
    PGSSLROOTCERT: searchParams.get("sslrootcert"),
  };
  return Object.fromEntries(Object.entries(parts).filter((entry): entry is [string, string] => !!entry[1]));
}

/** @throws E_UNAVAILABLE with the program's last words */
export function runTool(
  tool: string,
  args: readonly string[],
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const env = {
    PATH: process.env.PATH ?? "",
    LC_ALL: "C",
    PGAPPNAME: "escapement-rehearsal",
    ...connectionEnvironment(url),
  };
  return new Promise((resolve, reject) => {
    execFile(tool, [...args], { env, signal, maxBuffer: 1 << 24 }, (error, _, stderr) => {
      if (!error) return resolve();
      const words = stderr.trim().split("\n").slice(-3).join(" ") || error.message;
      reject(
        new EscapementError(
          "E_UNAVAILABLE",
          { what: `${tool}: ${words}`, hint: "mend that, then rehearse again" },
          { cause: error },
        ),
      );
    });
  });
}
