/** What is typed after `:`. Words, what they complete to, and what they do. */
import { actions } from "../actions/actions.ts";
import type { Intent } from "./keymap.ts";
import { currentView, type State, topScreens, type View } from "./state.ts";
import type { Step } from "./step.ts";

export interface Candidate {
  /** The whole text that it completes to. */
  readonly text: string;
  readonly help: string;
}

const most = 50;

/** What the text could become: screens, actions of this screen, and jobs by name. */
export function candidates(state: State, text: string): readonly Candidate[] {
  const { screen } = currentView(state);
  const words = text.trimStart();
  const job = /^job\s+(.*)$/.exec(words);
  if (job) {
    const wanted = job[1]!.toLowerCase();
    const jobs = state.picture.jobs?.value.jobs ?? [];
    return jobs
      .filter(({ label }) => label.toLowerCase().includes(wanted))
      .sort(
        (a, b) =>
          Number(b.label.startsWith(wanted)) - Number(a.label.startsWith(wanted)) ||
          a.label.localeCompare(b.label),
      )
      .slice(0, most)
      .map(({ label, definition }) => ({ text: `job ${label}`, help: definition.description ?? "" }));
  }
  const all: Candidate[] = [
    ...topScreens.map((name) => ({ text: name, help: `the screen ${name}` })),
    { text: "job ", help: "a job by name" },
    ...actions
      .filter((action) => action.screens.includes(screen))
      .map(({ name, title }) => ({ text: name, help: title })),
    { text: "help", help: "all keys" },
    { text: "quit", help: "leave" },
  ];
  return all.filter((one) => one.text.startsWith(words));
}

/** Tab and arrows choose among the candidates. @returns undefined for any other key */
export function chooseCommand(
  state: State,
  text: string,
  chosen: number,
  key: string,
): { readonly text: string; readonly chosen: number } | undefined {
  const found = candidates(state, text);
  if (key === "down") return { text, chosen: Math.min(found.length - 1, chosen + 1) };
  if (key === "up") return { text, chosen: Math.max(0, chosen - 1) };
  if (key === "tab" || key === "right") return { text: found[chosen]?.text ?? text, chosen: 0 };
  return undefined;
}

interface Doing {
  perform(state: State, intent: Intent): Step;
  shown(state: State, stack: readonly View[]): State;
  asked(state: State, action: string): Step;
  noticed(state: State, text: string, tone: "bad"): State;
}

/** Does what was typed, or what is chosen among its completions. */
export function runCommandLine(state: State, text: string, chosen: number, doing: Doing): Step {
  const typed = text.trim();
  if (typed === "") return { state, effects: [] };
  const found = candidates(state, text);
  const word =
    typed === "q" ? "quit" : (found.find((one) => one.text.trim() === typed) ?? found[chosen])?.text.trim();
  const screen = (topScreens as readonly (string | undefined)[]).indexOf(word);
  if (screen >= 0) return doing.perform(state, { do: "screen", index: screen });
  if (word === "quit" || word === "help") return doing.perform(state, { do: word });
  const job =
    word?.startsWith("job ") && state.picture.jobs?.value.jobs.find(({ label }) => `job ${label}` === word);
  if (job)
    return {
      state: doing.shown(state, [{ screen: "jobs" }, { screen: "job", jobId: job.jobId }]),
      effects: [],
    };
  if (word && actions.some(({ name }) => name === word)) return doing.asked(state, word);
  return {
    state: doing.noticed(state, `there is no ${typed} here; ? lists what there is`, "bad"),
    effects: [],
  };
}
