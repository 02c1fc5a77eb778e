/** Where a job leads to, however it is written: what is not set anew, and to another place, is refused. */
import { describe, expect, it } from "vitest";
import { refuseRealPlaces } from "../../../src/cli/checklist/real-places.ts";
import type { JobDefinition } from "../../../src/spec/job-definition.ts";

const scratch = "postgres://postgres@127.0.0.1:5432/scratch";
const job = (environment: Record<string, string>, command = ["node", "job.mjs"]) =>
  ({ environment, command }) as unknown as JobDefinition;

type Variables = Record<string, string>;
const refused = (environment: Variables, replaced: Variables, look = scratch): string | null => {
  try {
    refuseRealPlaces(job(environment), replaced, look);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

describe("an address of a job", () => {
  it.each<[string, string, string]>([
    ["LEDGER_URL", "postgresql://ledger_job@127.0.0.1:5432/ledger", "a URL"],
    ["JDBC", "jdbc:postgresql://real.example/ledger", "one of Java's"],
    ["JDBC", "jdbc:oracle:thin:@real.example:1521/ledger", "one of Oracle's"],
    ["LEDGER", "host=real.example dbname=ledger", "words"],
    ["LEDGER", "Server=real.example;Database=ledger;User Id=job", "words with semicolons"],
    ["LEDGER", "job:secret@tcp(real.example:3306)/ledger", "brackets"],
    ["LEDGER", "real.example:5432", "host and port"],
    ["BROKERS", "kafka-1:9092,kafka-2:9092", "a list"],
    ["LEDGER", "10.0.0.7", "an IP address"],
    ["PGHOST", "real.example", "libpq's host"],
    ["PGHOSTADDR", "10.0.0.7", "libpq's address"],
    ["PGDATABASE", "ledger", "libpq's database"],
    ["PGSERVICE", "ledger", "libpq's service"],
    ["MYSQL_HOST", "real.example", "a host of MySQL"],
    ["ORDERS_HOST", "orders", "any host"],
    ["orders_endpoint", "orders", "in small letters"],
  ])("%s=%s (%s) is refused until it is set", (name, value) => {
    expect(refused({ [name]: value, PACE_MS: "3", AT: "12:30" }, {})).toMatch(
      new RegExp(`refused: ${name} of the job would reach`),
    );
    expect(refused({ [name]: value }, { [name]: value })).toMatch(/would reach the real thing/);
    expect(refused({ [name]: value }, { [name]: scratch })).toBeNull();
  });

  it.each([
    "postgres://ledger_job@127.0.0.1:5432/ledger",
    "postgresql://LEDGER_JOB@localhost/ledger",
    "postgresql://other:secret@127.0.0.1/ledger?application_name=x",
    "jdbc:postgresql://LOCALHOST:5432/ledger",
    "postgresql+psycopg2://job@[::1]:5432/ledger",
    "postgresql:///ledger?host=/var/run/postgresql",
    "postgresql://elsewhere/x?host=127.0.0.1&dbname=ledger",
    "host=127.0.0.1 port=5432 dbname=ledger user=job",
    "postgres://standby.example,127.0.0.1/ledger",
  ])("is the same place as %s", (value) => {
    const real = { LEDGER_URL: "postgresql://ledger_job@127.0.0.1:5432/ledger" };
    expect(refused(real, { LEDGER_URL: value })).toMatch(/LEDGER_URL of the job would reach/);
    expect(refused(real, { LEDGER_URL: scratch, OTHER: value })).toMatch(/OTHER of the job would reach/);
  });

  it("in parts is another place when one of the parts is", () => {
    const real = { PGHOST: "127.0.0.1", PGDATABASE: "ledger", PGUSER: "job" };
    expect(refused(real, { PGHOST: "127.0.0.1", PGDATABASE: "scratch" })).toBeNull();
    expect(refused(real, { PGHOST: "localhost", PGDATABASE: "ledger" })).toMatch(/PGHOST, PGDATABASE of/);
    expect(refused(real, { PGDATABASE: "scratch" })).toMatch(/refused: PGHOST of/);
    expect(refused(real, { PGHOST: "127.0.0.1", PGDATABASE: "copy" })).toMatch(/another database than/);
  });

  it("in its command is refused, unless a variable fills it in", () => {
    const run = (word: string) => () => refuseRealPlaces(job({}, ["psql", word]), {}, scratch);
    for (const word of [
      "postgres://real.example/ledger",
      "--host=real.example",
      "host=real.example dbname=x",
    ])
      expect(run(word), word).toThrow(/command has an address/);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's
    for (const word of ["postgres://$HOST/ledger", "${LEDGER_URL}", "--quiet", "update.sql", "SELECT 1"])
      expect(run(word), word).not.toThrow();
  });
});

describe("what is looked at", () => {
  const real = { LEDGER_URL: "postgres://job@db.example/ledger", PAYOUT_URL: "https://pay.example/payouts" };
  const set = { LEDGER_URL: "postgres://job@127.0.0.1/scratch", PAYOUT_URL: "http://127.0.0.1:7/payouts" };

  it("is the database that the job is given", () => {
    expect(refused(real, set)).toBeNull();
    expect(refused(real, set, "postgres://localhost/scratch")).toBeNull();
    expect(refused(real, set, "postgres://postgres@127.0.0.1/other")).toMatch(
      /--look is another database than LEDGER_URL/,
    );
    expect(refused(real, set, "postgres://postgres@127.0.0.1:5433/scratch")).toMatch(/another database/);
    expect(refused(real, set, "postgres://postgres@db.example:5432/ledger")).toMatch(
      /--look is a real place/,
    );
    const two = { ...set, RATES_URL: "postgres://job@127.0.0.1/rates" };
    expect(refuseRealPlaces(job(real), two, scratch)).toEqual(["RATES_URL"]);
    expect(refuseRealPlaces(job(real), set, scratch)).toEqual([]);
  });
});
