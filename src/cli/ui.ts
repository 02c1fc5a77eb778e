/** `escapement ui`: the screen that stays open. */
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { requireCluster } from "./cluster-file.ts";
import { defineCommand } from "./command.ts";
import { reportError } from "./error-report.ts";
import { requireInventory } from "./inventory-file.ts";
import { type StoreOptions, screensStoreUrl, storeUrl, withStoreOptions } from "./store-url.ts";
import { urlWithoutPassword } from "./url-without-password.ts";

interface UiCommandOptions extends StoreOptions {
  readonly operator?: boolean;
  readonly readOnly?: boolean;
  readonly inventory?: string;
  readonly profiles?: readonly string[];
  readonly report?: string;
}

export function build(): Command {
  const command = defineCommand("ui", "the screens an operator keeps open: what ran, what did not, and why", {
    examples: ["escapement ui --cluster cluster.yaml", "escapement ui --cluster cluster.yaml --operator"],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.badData, ExitCode.unavailable, ExitCode.interrupted],
    notes:
      "Needs a terminal; escapement watch says the same as plain lines. Nothing can be changed from it without --operator,\nor ESCAPEMENT_UI_ROLE=operator. Keys: ? shows those of the screen.",
  })
    .option("--operator", "let keys change things; each asks why, and for the name")
    .option("--read-only", "let no key change anything (default)")
    .option("-i, --inventory <file>", "the hosts, for keys that drill, plan and apply")
    .option("--profiles <path...>", "profiles of the site, for keys that drill, plan and apply")
    .option("--report <file>", "JSON report of the checklist, for the evidence of its items");
  return withStoreOptions(command).action(async (options: UiCommandOptions) => {
    requireTerminal();
    // Commands get what we were given; the terminal library draws nothing where it sees one of these, even an empty one.
    const environment = { ...process.env };
    delete process.env.CI;
    delete process.env.CONTINUOUS_INTEGRATION;
    const { Database } = await import("../store/database.ts");
    const { checkSchema } = await import("../store/migrate.ts");
    const { startUi } = await loadScreens();
    const cluster = options.cluster === undefined ? undefined : await requireCluster(options.cluster);
    const url = await storeUrl(options);
    if (options.inventory !== undefined) await requireInventory({ inventory: options.inventory });
    const db = new Database(url, {
      maxConnections: 3,
      applicationName: "escapement-ui",
      queryTimeoutMs: 5_000,
      connectTimeoutMs: 3_000,
    });
    const operator =
      !options.readOnly && (options.operator === true || process.env.ESCAPEMENT_UI_ROLE === "operator");
    const started = startUi({
      db,
      checkStore: () => checkSchema(db),
      logDirectory: cluster?.logs.directory ?? null,
      operator,
      readOnlyReason: "read-only; start it with --operator",
      storeOptions: [
        ...(options.cluster === undefined ? [] : ["--cluster", options.cluster]),
        ...(options.url === undefined ? [] : ["--url", urlWithoutPassword(options.url)]),
      ],
      inventory: options.inventory ?? null,
      profiles: options.profiles ?? [],
      reportFile: options.report ?? null,
      program: {
        command: [process.execPath, process.argv[1]!],
        // Not as an option: those can be read by everybody on this machine.
        environment: { ...environment, ESCAPEMENT_STORE_URL: url, [screensStoreUrl]: url },
      },
      noColour: process.argv.includes("--no-color"),
    });
    try {
      process.exitCode = await started;
    } catch (error) {
      process.exitCode = reportError(error);
    }
    // Nothing that still waits for an answer keeps a person waiting who has left.
    process.exit();
  });
}

/** They are a file of their own, which hosts that were set up by deploy do not get. @throws E_UNAVAILABLE */
async function loadScreens(): Promise<typeof import("../tui/start.tsx")> {
  try {
    return await import("../tui/start.tsx");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new EscapementError(
      "E_UNAVAILABLE",
      {
        what: "this installation comes without the screens",
        hint: "escapement watch works here; the screens come with the npm package",
      },
      { cause: error },
    );
  }
}

/** Asked before anything of the screens is loaded: they would break on a pipe. @throws E_NO_TERMINAL */
function requireTerminal(): void {
  const { CI, CONTINUOUS_INTEGRATION, TERM } = process.env;
  const reason = !process.stdin.isTTY
    ? "standard input is not a terminal"
    : !process.stdout.isTTY
      ? "standard output is not a terminal"
      : TERM === "dumb"
        ? "TERM is dumb"
        : isSet(CI) || isSet(CONTINUOUS_INTEGRATION)
          ? "this is a build machine (CI is set)"
          : undefined;
  if (reason !== undefined) throw new EscapementError("E_NO_TERMINAL", { reason });
}

/** An empty variable is none, as with NO_COLOR; other programs have names of their own that begin with CI. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
