/** Sessions such as the daemons have: each with a login of its own and the limits that `store grant` sets. */
import { randomBytes } from "node:crypto";
import { Database } from "../../src/store/database.ts";
import { grantRole } from "../../src/store/roles.ts";

const parts = ["scheduler", "executor", "watchman"] as const;

export interface Sessions {
  /** The login of each part. */
  readonly logins: Readonly<Record<(typeof parts)[number], string>>;
  /** Opens one more session, under a login of one's choice. */
  open(login: string, applicationName: string): Promise<void>;
  close(part: string): Promise<void>;
  end(): Promise<void>;
}

export async function openSessions(url: string, owner: Database): Promise<Sessions> {
  const suffix = randomBytes(4).toString("hex");
  const open = new Map<string, Database>();
  const logins = Object.fromEntries(
    parts.map((part) => [part, `checklist_${part}_${suffix}`]),
  ) as Sessions["logins"];
  const as = async (login: string, applicationName: string) => {
    const own = new URL(url);
    own.username = login;
    const db = new Database(own.href, { maxConnections: 1, applicationName });
    await db.query("SELECT 1");
    open.set(applicationName, db);
  };
  // The pool closes what is idle for 30 s.
  const beat = setInterval(() => {
    for (const db of open.values()) db.query("SELECT 1").catch(() => {});
  }, 5_000);
  for (const part of parts) {
    await owner.query(`CREATE ROLE ${logins[part]} LOGIN`);
    await grantRole(owner, logins[part], part);
    await as(logins[part], `escapement-${part} ${part}-1`);
  }
  return {
    logins,
    open: as,
    close: async (applicationName) => {
      await open.get(applicationName)?.end();
      open.delete(applicationName);
    },
    end: async () => {
      clearInterval(beat);
      for (const db of open.values()) await db.end();
      for (const login of Object.values(logins))
        await owner.query(`DROP OWNED BY ${login}; DROP ROLE ${login}`);
    },
  };
}
