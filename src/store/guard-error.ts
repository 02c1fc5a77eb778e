/** Turns the guard's own SQLSTATEs into errors of ours; everything else passes unchanged. */
import { type ErrorCode, EscapementError } from "../base/errors.ts";
import { sqlState } from "./database.ts";

/** What src/store/guard/*.sql raises. EG007, a wrong argument, keeps its own hint. */
const codeOf: Record<string, ErrorCode> = {
  EG001: "E_GUARD_NO_TRANSACTION",
  EG002: "E_GUARD_STALE",
  EG003: "E_GUARD_KEY_REUSED",
  EG004: "E_GUARD_KEY_DATE",
  EG005: "E_GUARD_TOO_OLD",
  EG006: "E_GUARD_IN_TRANSACTION",
  EG007: "E_REFUSED",
  // The schema or a function of it is missing.
  "3F000": "E_GUARD_NOT_INSTALLED",
  "42883": "E_GUARD_NOT_INSTALLED",
};

interface ServerMessage {
  readonly message?: string;
  readonly hint?: string;
  readonly detail?: string;
}

export function asGuardError(error: unknown): unknown {
  if (error instanceof EscapementError) return error;
  const state = sqlState(error);
  const code = state === undefined ? undefined : codeOf[state];
  if (code === undefined) return error;
  const { message = "", hint = "", detail } = error as ServerMessage;
  if (code === "E_GUARD_NOT_INSTALLED" && !message.includes("escapement_guard")) return error;
  const what = detail === undefined ? message : `${message} (${detail})`;
  return new EscapementError(code, { what, hint }, { cause: error });
}

/** Runs one step and translates what it throws. */
export async function guardStep<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw asGuardError(error);
  }
}
