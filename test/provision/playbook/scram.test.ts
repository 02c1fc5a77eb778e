/** The verifier that we send in place of a password is the one that the server would have made. */
import { expect, test } from "vitest";
import { scramVerifier } from "../../../src/provision/playbook/actions/store.ts";
import { Database } from "../../../src/store/database.ts";
import { freshDatabase } from "../../support/database.ts";

test("it is PostgreSQL's own, for the same salt", async () => {
  const { url, drop } = await freshDatabase({ migrated: false });
  const db = new Database(url, { maxConnections: 1 });
  try {
    await db.query("SET password_encryption = 'scram-sha-256'");
    await db.query("CREATE ROLE scram_probe PASSWORD 'pencil and paper'");
    const { rows } = await db.query<{ rolpassword: string }>(
      "SELECT rolpassword FROM pg_authid WHERE rolname = 'scram_probe'",
    );
    const made = rows[0]!.rolpassword;
    const [, rounds = "", salt = ""] = /^SCRAM-SHA-256\$(\d+):([^$]+)\$/.exec(made) ?? [];
    expect(scramVerifier("pencil and paper", Buffer.from(salt, "base64"), Number(rounds))).toBe(made);
    // The server takes it for what it is, and keeps it as it is.
    const ours = scramVerifier("another");
    await db.query(`ALTER ROLE scram_probe PASSWORD '${ours}'`);
    const after = await db.query<{ rolpassword: string }>(
      "SELECT rolpassword FROM pg_authid WHERE rolname = 'scram_probe'",
    );
    expect(after.rows[0]!.rolpassword).toBe(ours);
  } finally {
    await db.query("DROP ROLE IF EXISTS scram_probe");
    await db.end();
    await drop();
  }
});
