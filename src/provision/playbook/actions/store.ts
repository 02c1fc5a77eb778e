/**
 * Actions and checks around the record store. Every host has a login of its
 * own, so that one can be taken back without the others; its password is made
 * here, sent on standard input, and kept on that host alone. The server gets a
 * verifier and never the password.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { isIPv6 } from "node:net";
import { z } from "zod";
import { EscapementError } from "../../../base/errors.ts";
import type { StoreRole } from "../../../store/roles.ts";
import type { HostWorld } from "../host-world.ts";
import {
  type ActionEntry,
  type CheckEntry,
  defineAction,
  defineCheck,
  no,
  type PlaybookHost,
  yes,
} from "../registry.ts";
import { storeHost, toolkit, toolkitDone } from "../toolkit.ts";

const none = z.strictObject({});
const migrateDeadlineMs = 10 * 60_000;
const database = "escapement";

export const storeActions: readonly (readonly [string, ActionEntry<HostWorld>])[] = [
  [
    "create-store-database",
    defineAction("makes the database of the records, if it is not there", none, async ({ world, host }) => {
      const found = await sql(
        world,
        host.name,
        `SELECT 'found' FROM pg_database WHERE datname = '${database}';`,
      );
      if (found.includes("found")) return `${database} was there`;
      await sql(world, host.name, `CREATE DATABASE ${database};`);
      return `made ${database}`;
    }),
  ],
  [
    "migrate-store",
    defineAction("brings the store's schema to what this toolkit knows", none, async ({ world, host }) => {
      const answer = await toolkitDone(world, host.name, ["store", "migrate"], {
        as: "owner",
        deadlineMs: migrateDeadlineMs,
      });
      const { version, applied } = z
        .object({ version: z.number(), applied: z.array(z.unknown()) })
        .parse(answer);
      return applied.length > 0
        ? `${applied.length} migration(s), now version ${version}`
        : `version ${version} was there`;
    }),
  ],
  [
    "grant-store-login",
    defineAction(
      "gives the host a login of its own in the store, and writes it there",
      none,
      async ({ world, host }) => {
        const store = storeHost(world);
        const granted = storeRolesOf(world, host);
        const login = loginOf(host.name);
        const password = randomBytes(24).toString("base64url");
        await sql(
          world,
          store.name,
          `SELECT 'CREATE ROLE ${login} LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${login}') \\gexec
ALTER ROLE ${login} LOGIN PASSWORD '${scramVerifier(password)}';`,
        );
        for (const role of granted) {
          // This command has no --json; its exit code is its answer.
          const { exitCode, stderr } = await world.run(store.name, [
            "sh",
            "-c",
            `cd / && ESCAPEMENT_STORE_URL='postgresql:///${database}?host=/var/run/postgresql' exec runuser -u postgres -- /usr/local/bin/escapement store grant "$1" --as "$2"`,
            "sh",
            login,
            role,
          ]);
          if (exitCode !== 0) throw refused(store.name, `store grant: ${stderr.trim().split("\n")[0]}`);
        }
        await writeStoreUrl(
          world,
          host.name,
          `postgresql://${login}:${password}@${addressOf(world, store.name)}/${database}`,
        );
        return `${login} acts as ${granted.join(", ")}`;
      },
    ),
  ],
  [
    "revoke-store-login",
    defineAction("takes the host's login of the store away", none, async ({ world, host }) => {
      const login = loginOf(host.name);
      const store = storeHost(world).name;
      await sql(
        world,
        store,
        `SELECT 'ALTER ROLE ${login} NOLOGIN PASSWORD NULL' WHERE EXISTS (SELECT FROM pg_roles WHERE rolname = '${login}') \\gexec
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${login}';`,
      );
      return `${login} may log in no more`;
    }),
  ],
];

export const storeChecks: readonly (readonly [string, CheckEntry<HostWorld>])[] = [
  [
    "store-answers",
    defineCheck("whether the store's server takes connections", none, async ({ world, host }) => {
      const { exitCode, stdout, stderr } = await world.run(
        host.name,
        ["sh", "-c", "cd / && exec runuser -u postgres -- pg_isready"],
        { looks: true },
      );
      const said = (stdout || stderr).trim();
      return exitCode === 0 ? yes(said) : no(said);
    }),
  ],
  [
    "store-migrated",
    defineCheck(
      "whether the schema is the one this toolkit makes, unchanged",
      none,
      async ({ world, host }) => {
        const answer = await toolkit(world, host.name, ["store", "status"], { as: "owner", looks: true });
        if (answer.exitCode === 0) return yes("the schema is as the migrations made it");
        return no(answer.error?.message ?? "the schema has drifted");
      },
    ),
  ],
  [
    "store-login-works",
    defineCheck("whether the host gets into the store with its own login", none, async ({ world, host }) => {
      const answer = await toolkit(world, host.name, ["store", "status"], { looks: true });
      if (answer.error?.code === "E_STORE_URL_MISSING") return no("it has no login yet");
      if (answer.json !== undefined) return yes("it gets in");
      return no(answer.error?.message ?? `exit ${answer.exitCode}`);
    }),
  ],
  [
    "store-login-gone",
    defineCheck("whether the host's login is closed", none, async ({ world, host }) => {
      const login = loginOf(host.name);
      const found = await sql(
        world,
        storeHost(world).name,
        `SELECT CASE WHEN rolcanlogin THEN 'open' ELSE 'closed' END FROM pg_roles WHERE rolname = '${login}';`,
      );
      if (found.includes("open")) return no(`${login} may still log in`);
      return yes(found.includes("closed") ? `${login} is closed` : `there is no ${login}`);
    }),
  ],
];

const storeLogins = ["scheduler", "executor", "watchman"] as const;

/** Host names are lower-case letters, digits and dashes. */
function loginOf(host: string): string {
  return `escapement_${host.replaceAll("-", "_")}`;
}

/** The watchman's host also runs the drills of the timetable: it executes them, and they bring work of their own. */
function storeRolesOf(world: HostWorld, host: PlaybookHost): readonly StoreRole[] {
  const found = storeLogins.find((role) => host.roles.includes(role));
  if (found === "watchman" && world.setting(host.name, "drillPublicKey") !== undefined)
    return ["watchman", "executor", "drill"];
  if (found) return [found];
  throw refused(host.name, "its profile has no part that talks to the store");
}

function addressOf(world: HostWorld, host: string): string {
  const set = world.setting(host, "clusterAddress");
  const address = typeof set === "string" ? set : world.hostOf(host).target.address;
  return isIPv6(address) ? `[${address}]` : address;
}

/** The group is the one that the profile makes, too; it may not have been applied yet. */
const writeScript = `set -eu
getent group escapement >/dev/null || groupadd --system escapement
install -d -o root -g escapement -m 0751 /etc/escapement
umask 077
cat > /etc/escapement/.store-url.new
chown root:escapement /etc/escapement/.store-url.new
chmod 0640 /etc/escapement/.store-url.new
sync /etc/escapement/.store-url.new 2>/dev/null || sync
mv -T /etc/escapement/.store-url.new /etc/escapement/store-url`;

async function writeStoreUrl(world: HostWorld, host: string, url: string): Promise<void> {
  const { exitCode, stderr } = await world.run(host, ["sh", "-c", writeScript], { stdin: `${url}\n` });
  if (exitCode !== 0) throw refused(host, `/etc/escapement/store-url could not be written: ${stderr.trim()}`);
}

/** Statements on standard input of psql, as the server's owner. @returns what was selected */
async function sql(world: HostWorld, host: string, statements: string): Promise<string> {
  const { exitCode, stdout, stderr } = await world.run(
    host,
    ["sh", "-c", "cd / && exec runuser -u postgres -- psql -X -q -A -t -v ON_ERROR_STOP=1 -d postgres"],
    { stdin: `${statements}\n` },
  );
  if (exitCode === 0) return stdout;
  throw refused(host, `psql: ${stderr.trim().split("\n")[0]}`);
}

function refused(host: string, what: string): EscapementError {
  return new EscapementError(
    "E_REFUSED",
    { what: `${host}: ${what}`, hint: "mend it and run the playbook again; it goes on at this step" },
    { at: host },
  );
}

/** What PostgreSQL stores in place of a password (RFC 5802 with SHA-256; 4096 rounds as the server itself does). */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16), rounds = 4096): string {
  const salted = pbkdf2Sync(password, salt, rounds, 32, "sha256");
  const keyOf = (name: string) => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(keyOf("Client Key")).digest("base64");
  return `SCRAM-SHA-256$${rounds}:${salt.toString("base64")}$${stored}:${keyOf("Server Key").toString("base64")}`;
}
