/** Which record store a command talks to: --url, then the cluster file, then the environment. */
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { EscapementError, messageOf } from "../base/errors.ts";
import type { ClusterDefinition, StoreLocation } from "../spec/cluster-definition.ts";
import { Database, type DatabaseOptions } from "../store/database.ts";
import { checkSchema } from "../store/migrate.ts";
import { requireCluster } from "./cluster-file.ts";

/** What the screens give to the commands that they start: the store that they show, whatever else names one. */
export const screensStoreUrl = "ESCAPEMENT_SCREENS_STORE_URL";

export interface StoreOptions {
  readonly url?: string;
  readonly cluster?: string;
}

/** Adds the options by which every command finds its store. */
export function withStoreOptions(command: Command): Command {
  return command
    .option("--cluster <file>", "cluster file that names the record store")
    .option(
      "--url <url>",
      "URL of the record store (default: the cluster file's, then ESCAPEMENT_STORE_URL)",
    );
}

/** The URL of the store. @throws E_STORE_URL_MISSING, E_SPEC_INVALID, E_FILE_UNREADABLE */
export async function storeUrl(options: StoreOptions): Promise<string> {
  const shown = process.env[screensStoreUrl];
  if (shown) return requireUrl(shown, screensStoreUrl);
  if (options.url !== undefined) return requireUrl(options.url, "--url");
  if (options.cluster) return locateStore((await requireCluster(options.cluster)).store);
  const fromEnvironment = process.env.ESCAPEMENT_STORE_URL;
  if (fromEnvironment) return requireUrl(fromEnvironment, "ESCAPEMENT_STORE_URL");
  throw new EscapementError("E_STORE_URL_MISSING");
}

/** Anything else would be taken for a host name, or silently for this machine. The value may hold a password: it is not shown. */
export function requireUrl(url: string, from: string): string {
  if (/^postgres(ql)?:\/\//.test(url)) return url;
  throw new EscapementError("E_BAD_VALUE", {
    option: from,
    value: url === "" ? "(empty)" : "what it holds",
    expected: "a PostgreSQL URL",
    hint: "write postgres://user@host:port/database",
  });
}

/** The URL that a cluster file points to. */
export async function locateStore(location: StoreLocation): Promise<string> {
  switch (location.from) {
    case "url":
      return requireUrl(location.url, "spec.store.url");
    case "env": {
      const url = process.env[location.urlEnv];
      if (url) return requireUrl(url, location.urlEnv);
      throw new EscapementError("E_UNAVAILABLE", {
        what: `the environment variable ${location.urlEnv} is not set`,
        hint: "the cluster file takes the store's URL from it",
      });
    }
    case "file":
      try {
        return requireUrl((await readFile(location.urlFile, "utf8")).trim(), location.urlFile);
      } catch (error) {
        if (error instanceof EscapementError) throw error;
        throw new EscapementError(
          "E_FILE_UNREADABLE",
          { file: location.urlFile, reason: messageOf(error) },
          { cause: error },
        );
      }
  }
}

/** The store of a cluster, for long-running processes. */
export async function clusterDatabase(
  cluster: ClusterDefinition,
  options: DatabaseOptions,
): Promise<Database> {
  return new Database(await locateStore(cluster.store), options);
}

/** Opens the store, makes sure of its schema, runs the work, and closes it again. */
export async function withStore<T>(options: StoreOptions, work: (db: Database) => Promise<T>): Promise<T> {
  const db = new Database(await storeUrl(options), { maxConnections: 2, applicationName: "escapement-cli" });
  try {
    await checkSchema(db);
    return await work(db);
  } finally {
    await db.end();
  }
}
