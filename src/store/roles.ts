/** The store's roles, and the settings that a login with one of them carries. */
import { EscapementError } from "../base/errors.ts";
import { type Queryable, sqlState } from "./database.ts";

export const storeRoles = ["scheduler", "executor", "watchman", "reader", "checklist", "drill"] as const;
export type StoreRole = (typeof storeRoles)[number];

/**
 * A frozen client must not keep its locks: 4 s idle in a transaction is far
 * below every lease. Keepalives find a peer that is gone within 20 s; the
 * default of two hours would keep its row locks for as long.
 */
const settings: Record<string, string> = {
  idle_in_transaction_session_timeout: "4s",
  statement_timeout: "30s",
  // Plans are pinned by raising the cost of others, which would make just-in-time compilation seem worth its second.
  jit: "off",
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
};

/** What a role needs of the server besides the records: who follows it is for these members alone. */
const ofServer: Partial<Record<StoreRole, readonly string[]>> = {
  checklist: ["pg_read_all_stats"],
  drill: ["pg_read_all_stats"],
};

/**
 * Grants the group role and sets the limits on the login. They hold through a pooler, too.
 * @returns roles of the server that only a superuser may give, where this login may not
 * @throws E_BAD_VALUE for a login that does not exist
 */
export async function grantRole(db: Queryable, login: string, role: StoreRole): Promise<readonly string[]> {
  const quoted = `"${login.replaceAll('"', '""')}"`;
  try {
    await db.query(`GRANT escapement_${role} TO ${quoted}`);
  } catch (error) {
    if (sqlState(error) !== "42704") throw error;
    throw new EscapementError("E_BAD_VALUE", {
      option: "login",
      value: login,
      expected: "a role of this server",
      hint: `make it first, in psql: CREATE ROLE ${quoted} LOGIN PASSWORD '…'`,
    });
  }
  for (const [name, value] of Object.entries(settings))
    await db.query(`ALTER ROLE ${quoted} SET ${name} = '${value}'`);
  const refused: string[] = [];
  for (const name of ofServer[role] ?? [])
    await db.query(`GRANT ${name} TO ${quoted}`).catch((error: unknown) => {
      if (sqlState(error) !== "42501") throw error;
      refused.push(name);
    });
  return refused;
}
