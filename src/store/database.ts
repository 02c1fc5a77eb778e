/**
 * The door to PostgreSQL: the only file that imports `pg`.
 *
 * Everything here works through pgbouncer in transaction mode: no session
 * state, no named prepared statements, no LISTEN, no startup parameters that a
 * pooler refuses. Time limits are therefore kept on this side, too: a query
 * that takes longer than `queryTimeoutMs` fails and its connection is closed.
 */
import pg from "pg";
import { EscapementError, messageOf } from "../base/errors.ts";

/** The part of a connection that statements need; any `pg` client fits. */
export interface Queryable {
  // biome-ignore lint/suspicious/noExplicitAny: rows are parsed by the caller
  query<Row extends Record<string, any>>(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}

export interface DatabaseOptions {
  /** Most connections at a time; default 4. */
  readonly maxConnections?: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
  /** Fails a query, and closes its connection, after this long; default 30,000. */
  readonly queryTimeoutMs?: number;
  /** Fails a connection attempt after this long; default 5,000. */
  readonly connectTimeoutMs?: number;
}

const int8 = 20;
const timestamptz = 1184;

/** Numbers come back as numbers and instants as Date; a bigint beyond 2^53 is an error, never a rounded value. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === int8) {
      return (text: string) => {
        const value = Number(text);
        if (!Number.isSafeInteger(value))
          throw new EscapementError("E_BUG", { what: `bigint ${text} does not fit` });
        return value;
      };
    }
    if (oid === timestamptz && format !== "binary") {
      // PostgreSQL writes 'infinity' for open ends; keep it a valid ordering value.
      return (text: string) =>
        text === "infinity" ? new Date(8.64e15) : text === "-infinity" ? new Date(-8.64e15) : new Date(text);
    }
    return pg.types.getTypeParser(oid, format as "text");
  },
};

/** A small pool of connections to one database. */
export class Database implements Queryable {
  readonly #pool: pg.Pool;

  constructor(url: string, options: DatabaseOptions = {}) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: options.maxConnections ?? 4,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      query_timeout: options.queryTimeoutMs ?? 30_000,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      application_name: options.applicationName ?? "escapement",
      types,
    });
    // An idle connection that breaks is replaced at the next query; nobody waits for it.
    this.#pool.on("error", () => {});
    // A server that goes down may say so in the same breath as its greeting, before anybody listens.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  // biome-ignore lint/suspicious/noExplicitAny: rows are parsed by the caller
  async query<Row extends Record<string, any>>(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Row[]; rowCount: number | null }> {
    return this.#withClient((client) => client.query<Row>(text, values as unknown[]));
  }

  /**
   * Runs `work` in one transaction. It is rolled back when `work` throws.
   * A client that freezes inside is cut off by the server after 4 s, so that
   * its locks cannot outlive a lease.
   */
  async transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.#withClient(async (client) => {
      await client.query(
        "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '4s'; SET LOCAL lock_timeout = '10s'",
      );
      try {
        const result = await work(client);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        await client.query("ROLLBACK").catch(() => {});
        throw error;
      }
    });
  }

  async end(): Promise<void> {
    await this.#pool.end();
  }

  /** A connection whose query failed for another reason than SQL (time limit, cut line) is closed, not reused. */
  async #withClient<T>(work: (client: Queryable) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw asStoreError(error);
    }
    // While a connection is checked out the pool does not listen for its errors; the query reports them.
    const ignore = () => {};
    client.on("error", ignore);
    let broken = false;
    const guarded: Queryable = {
      // Only what a query throws is about the store; what the work itself throws passes as it is.
      async query(text, values) {
        try {
          return await client.query(text, values);
        } catch (error) {
          broken ||= !isSqlError(error) || isConnectionLoss(error);
          throw asStoreError(error);
        }
      },
    };
    try {
      return await work(guarded);
    } finally {
      client.off("error", ignore);
      client.release(broken ? true : undefined);
    }
  }
}

/** The five-character SQLSTATE of an error, or undefined when it is not from the server. */
export function sqlState(error: unknown): string | undefined {
  const cause = error instanceof EscapementError ? error.cause : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

function isSqlError(error: unknown): boolean {
  return sqlState(error) !== undefined;
}

/** Class 08 is a broken connection, 28 and 3D000 one that was refused (login, database), 57P0x a server that is going down or ended us, 25P03 the idle limit. */
function isConnectionLoss(error: unknown): boolean {
  const state = sqlState(error) ?? "";
  return (
    state.startsWith("08") ||
    state.startsWith("57P") ||
    state.startsWith("28") ||
    ["25P03", "53300", "3D000"].includes(state)
  );
}

/** Errors of ours and of SQL pass; everything else means that the store cannot be reached. */
function asStoreError(error: unknown): unknown {
  if (error instanceof EscapementError) return error;
  if (isSqlError(error) && !isConnectionLoss(error)) return error;
  // No server can be asked, now or later: waiting for one would never end.
  if ((error as { code?: unknown }).code === "ERR_INVALID_URL")
    return new EscapementError(
      "E_BAD_VALUE",
      {
        option: "the database's URL",
        value: "what it holds",
        expected: "a URL that can be read",
        hint: "write postgres://user@host:port/database, with one host and a port below 65536",
      },
      { cause: error },
    );
  return new EscapementError("E_STORE_UNAVAILABLE", { reason: messageOf(error) }, { cause: error });
}
