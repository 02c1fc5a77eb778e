/** What an action of the screens is: a command of the program, a key, and what is asked before it is done. */
import type { Question, ScreenName, State } from "../state/state.ts";

export type Subject = Readonly<Record<string, string>>;

export interface Action {
  readonly name: string;
  /** Upper case. */
  readonly key: string;
  readonly title: string;
  readonly screens: readonly ScreenName[];
  /** Which parts of the subject it needs: without them there is nothing to do it to. */
  readonly needs: readonly string[];
  /** Further reasons why it cannot be done now. */
  refusal?(state: State, subject: Subject): string | null;
  /** Asked before the reason. */
  asks?(subject: Subject): readonly Question[];
  /** No reason is kept with it. */
  readonly withoutReason?: boolean;
  /** What must be typed to confirm. */
  confirms(subject: Subject): string;
  /** The words of the command, without the options that name the store. @param answers to `asks`, then the reason */
  command(subject: Subject, answers: readonly string[]): readonly string[];
  /** It finds no store, or needs none. */
  readonly withoutStore?: boolean;
  /** It needs the inventory file that the screens were started with. */
  readonly withInventory?: boolean;
  /** Its answer is the report of the checklist. */
  readonly answersReport?: boolean;
}
