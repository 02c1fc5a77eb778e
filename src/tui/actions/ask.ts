/** What is asked before an action is done, why it is refused, and the command line that it comes to. */
import type { Question, State } from "../state/state.ts";
import type { Action, Subject } from "./action.ts";

/** Why an action cannot be done now, or null. */
export function refusalOf(action: Action, state: State, subject: Subject): string | null {
  if (!state.operator) return state.readOnlyReason;
  if (state.busy.includes(action.title)) return "the one before is not done yet";
  if (action.needs.some((part) => !subject[part])) return "nothing is chosen that it could be done to";
  if (action.withInventory && state.inventory === null) return "it needs the hosts: start with -i INVENTORY";
  return action.refusal?.(state, subject) ?? null;
}

/** What is asked before an action is done: its own questions, the reason, and the name. */
export function questionsOf(action: Action, subject: Subject): Question[] {
  return [
    ...(action.asks?.(subject) ?? []),
    ...(action.withoutReason ? [] : [{ label: "reason", hint: "why; kept with the records", value: "" }]),
    {
      label: "confirm",
      hint: `type ${action.confirms(subject)}`,
      value: "",
      mustBe: action.confirms(subject),
    },
  ];
}

/** The whole command line as words, with the options that name store and inventory. */
export function commandOf(
  action: Action,
  subject: Subject,
  questions: readonly Question[],
  { storeOptions, hostOptions }: Pick<State, "storeOptions" | "hostOptions">,
): string[] {
  const answers = questions.filter(({ mustBe }) => mustBe === undefined).map(({ value }) => value);
  return [
    ...action.command(subject, answers),
    ...(action.withoutStore ? [] : storeOptions),
    ...(action.withInventory ? hostOptions : []),
  ];
}

/** Words as a shell reads them back. */
export function shellLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
