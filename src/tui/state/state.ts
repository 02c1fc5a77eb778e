/** What is on the screen, apart from the data: where we are, what is chosen, what is being typed. */
import type { Picture, StoreHealth } from "../data/picture.ts";

/** The numbered screens, in the order of their numbers. */
export const topScreens = ["overview", "jobs", "hosts", "drills", "checklist", "alerts", "capacity"] as const;
export type TopScreen = (typeof topScreens)[number];

export type View =
  | { readonly screen: TopScreen }
  | { readonly screen: "job"; readonly jobId: number }
  | { readonly screen: "execution"; readonly jobId: number; readonly fireMs: number }
  | { readonly screen: "drill"; readonly runId: string }
  | { readonly screen: "item"; readonly number: number };

export type ScreenName = View["screen"];

export interface ListState {
  /** Which row the cursor is on; it stays on it when rows move. */
  readonly key: string | null;
  readonly index: number;
  /** The first row that is shown. */
  readonly top: number;
  readonly filter: string;
  /** A column of the screen; null: its own order. */
  readonly sort: { readonly column: string; readonly descending: boolean } | null;
}

/** A text that is being asked for. */
export interface Question {
  readonly label: string;
  readonly value: string;
  readonly hint: string;
  /** Only this answer goes on. */
  readonly mustBe?: string;
  readonly optional?: boolean;
}

export type Mode =
  | { readonly kind: "browse" }
  | { readonly kind: "filter"; readonly before: string }
  | { readonly kind: "command"; readonly text: string; readonly chosen: number }
  | { readonly kind: "help"; readonly top: number }
  | {
      readonly kind: "ask";
      readonly action: string;
      /** What it is done to: kept from when the question was asked, whatever the data does meanwhile. */
      readonly subject: Readonly<Record<string, string>>;
      readonly questions: readonly Question[];
      readonly at: number;
    };

export interface Notice {
  readonly text: string;
  readonly tone: "good" | "bad" | "plain";
  readonly untilMs: number;
}

export interface State {
  readonly size: { readonly columns: number; readonly rows: number };
  /** Monotonic milliseconds of the last tick. */
  readonly nowMs: number;
  /** The last one is shown. */
  readonly stack: readonly View[];
  readonly mode: Mode;
  readonly lists: Readonly<Partial<Record<ScreenName, ListState>>>;
  readonly picture: Picture;
  readonly store: StoreHealth;
  readonly notice: Notice | null;
  /** Enter was pressed here, so many times, before there was a row: it leads on as soon as there is one, unless another key comes first. */
  readonly opening: { readonly view: View; readonly times: number } | null;
  /** False: nothing can be changed from here. */
  readonly operator: boolean;
  /** Why not. */
  readonly readOnlyReason: string;
  /** Options by which a command finds this store, as they are shown: `--cluster cluster.yaml`. */
  readonly storeOptions: readonly string[];
  /** The inventory file that was given, or null. */
  readonly inventory: string | null;
  /** Options by which commands about hosts know them: inventory, and profiles of the site. */
  readonly hostOptions: readonly string[];
  /** Titles of actions that run. */
  readonly busy: readonly string[];
  /** The exit code with which to end, or null. */
  readonly quit: number | null;
}

/** Things the reducer wants done in the world. It never does them itself. */
export type Effect =
  | { readonly kind: "copy"; readonly text: string }
  | {
      readonly kind: "run";
      readonly title: string;
      readonly args: readonly string[];
      readonly report: boolean;
    }
  | { readonly kind: "repaint" }
  | { readonly kind: "inspect" };

export const emptyList: ListState = { key: null, index: 0, top: 0, filter: "", sort: null };

export function currentView(state: State): View {
  return state.stack.at(-1)!;
}

export function listOf(state: State, screen: ScreenName = currentView(state).screen): ListState {
  return state.lists[screen] ?? emptyList;
}

/** The store's time now, by the last look and what has passed since; undefined before the first. */
export function storeNow(state: State): Date | undefined {
  const look = state.picture.cluster;
  return look && new Date(look.value.now.getTime() + (state.nowMs - look.atMs));
}

export function startState(options: {
  readonly size: State["size"];
  readonly nowMs: number;
  readonly operator: boolean;
  readonly readOnlyReason: string;
  readonly storeOptions: readonly string[];
  readonly inventory: string | null;
  readonly profiles?: readonly string[];
}): State {
  const { inventory, profiles = [] } = options;
  return {
    size: options.size,
    nowMs: options.nowMs,
    operator: options.operator,
    readOnlyReason: options.readOnlyReason,
    storeOptions: options.storeOptions,
    inventory,
    hostOptions: [
      ...(inventory === null ? [] : ["-i", inventory]),
      ...(profiles.length === 0 ? [] : ["--profiles", ...profiles]),
    ],
    stack: [{ screen: "overview" }],
    mode: { kind: "browse" },
    lists: {},
    picture: {},
    store: { down: null, downSinceMs: 0, retryAtMs: 0 },
    notice: null,
    opening: null,
    busy: [],
    quit: null,
  };
}
