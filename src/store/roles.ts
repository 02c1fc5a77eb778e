/** The store's roles, and the settings that a login with one of them carries. */
import type { Queryable } from "./database.ts";

export const storeRoles = ["scheduler", "executor", "watchman", "reader"] as const;
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

/** Grants the group role and sets the limits on the login. They hold through a pooler, too. */
export async function grantRole(db: Queryable, login: string, role: StoreRole): Promise<void> {
  const quoted = `"${login.replaceAll('"', '""')}"`;
  await db.query(`GRANT escapement_${role} TO ${quoted}`);
  for (const [name, value] of Object.entries(settings))
    await db.query(`ALTER ROLE ${quoted} SET ${name} = '${value}'`);
}
