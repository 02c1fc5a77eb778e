/** `escapement store grant`: gives a login one of the roles, with its time limits. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { print, say } from "../terminal.ts";

export function buildGrant(): Command {
  const command = defineCommand(
    "grant",
    "let a login act as scheduler, executor, watchman, reader, checklist or drills",
    {
      examples: ["escapement store grant exec_login --as executor --url postgres://owner@db.example/records"],
      exitCodes: [ExitCode.ok, ExitCode.unavailable],
      notes:
        "Sets the login's idle-in-transaction limit, statement limit and TCP keepalives, too. Making the login is the DBA's work.",
    },
  )
    .argument("<login>", "an existing role with LOGIN")
    .requiredOption("--as <role>", "scheduler, executor, watchman, reader, checklist or drill");
  return withStoreOptions(command).action(async (login: string, options: StoreOptions & { as: string }) => {
    const { grantRole, storeRoles } = await import("../../store/roles.ts");
    const role = storeRoles.find((known) => known === options.as);
    if (!role) {
      throw new EscapementError("E_BAD_VALUE", {
        option: "--as",
        value: options.as,
        expected: "a role of the store",
        hint: `choices: ${storeRoles.join(", ")}`,
      });
    }
    const missing = await withStore(options, (db) => grantRole(db, login, role));
    print(`${login} may now act as ${role}`);
    for (const name of missing)
      say(`it also needs ${name}, which only a superuser may give; in psql: GRANT ${name} TO ${login}`);
  });
}
