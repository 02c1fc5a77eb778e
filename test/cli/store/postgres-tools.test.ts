/** How the tools of PostgreSQL are told where to connect. */
import { expect, it } from "vitest";
import { connectionEnvironment, inDatabase } from "../../../src/cli/store/postgres-tools.ts";

it("keeps passwords out of command lines", () => {
  expect(connectionEnvironment("postgres://us%40er:p%2Fw@db.example:5433/records?sslmode=require")).toEqual({
    PGHOST: "db.example",
    PGPORT: "5433",
    PGUSER: "us@er",
    PGPASSWORD: "p/w",
    PGDATABASE: "records",
    PGSSLMODE: "require",
  });
  expect(
    connectionEnvironment("postgres://postgres@/escapement?host=/var/run/postgresql&port=5432"),
  ).toMatchObject({
    PGHOST: "/var/run/postgresql",
    PGPORT: "5432",
  });
  expect(inDatabase("postgres://postgres@/escapement?host=/run", "x")).toBe(
    "postgres://postgres@/x?host=/run",
  );
  expect(inDatabase("postgres://a:b@h:1/escapement", "x y")).toBe("postgres://a:b@h:1/x%20y");
});
