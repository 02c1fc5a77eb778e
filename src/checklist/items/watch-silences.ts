/** Whether anybody would hear of what a rule of the watchman finds now: rule, severity, silences, windows. */
import { compileSchedule } from "../../schedule/compile.ts";
import { describeMatch, fits } from "../../spec/alert-match.ts";
import type { AlertMatch, WatchDefinition, WatchWindow } from "../../spec/watch-definition.ts";
import { overheard } from "../../store/checklist/look.ts";
import { activeSilences, type SilenceRow } from "../../store/watch/silence.ts";
import type { CheckContext } from "../context.ts";
import type { Evidence } from "../item.ts";
import { databaseNow, openStore } from "./parts.ts";
import { fileEvidence, queryEvidence } from "./verdicts.ts";

export interface Unheard {
  /** Why nobody, or nobody in time, is told; one sentence each. Empty: somebody is. */
  readonly reasons: readonly string[];
  /** Something holds back all of it: it ends by itself, or when somebody ends it. */
  readonly isQuiet: boolean;
  readonly evidence: readonly Evidence[];
}

/**
 * @param rules of one kind; each is looked at on its own
 * @param jobs `namespace/name` of all that the rules may be about; undefined: they are about no job
 * @throws when the store cannot be asked for the silences made by command
 */
export async function unheard(
  context: CheckContext,
  watch: { readonly definition: WatchDefinition; readonly file: string },
  rules: readonly string[],
  jobs?: readonly string[],
): Promise<Unheard> {
  const now = await databaseNow(context);
  const { what, found: made } = await overheard(openStore(context), (db) => activeSilences(db, now));
  const settings = rules.map((rule) => ({ rule, ...watch.definition.rules[rule] }));
  const off = settings.filter(({ enabled }) => enabled === false).map(({ rule }) => rule);
  const low = settings.filter(({ severity }) => severity === "info").map(({ rule }) => rule);
  const quiet = settings.flatMap(({ rule, severity = "critical" }) => {
    const held = heldBack(watch.definition, made, { rule, severity, jobs }, now);
    return held === undefined ? [] : [{ rule, held }];
  });
  const said = settings.map(
    ({ rule, enabled = true, severity }) =>
      `${rule}: ${enabled ? "on" : "switched off"}${severity ? `, severity ${severity}` : ""}`,
  );
  return {
    reasons: [
      ...off.map((rule) => `the rule ${rule} is switched off`),
      ...low.map((rule) => `the rule ${rule} is lowered to info, which is no alert`),
      ...quiet.map(({ rule, held }) => `what ${rule} finds is told to nobody now: ${held}`),
    ],
    isQuiet: quiet.length > 0,
    evidence: [
      fileEvidence(context, watch.file, said.join("\n")),
      queryEvidence(context, {
        what,
        rows: made.map(({ match, until, reason, by }) => ({ match, until, reason, by })),
      }),
    ],
  };
}

interface Kind {
  readonly rule: string;
  readonly severity: "info" | "warning" | "critical";
  readonly jobs: readonly string[] | undefined;
}

/** What holds all of a kind back, in words; undefined where at least one would be told, or there is no job. */
function heldBack(
  watch: WatchDefinition,
  made: readonly SilenceRow[],
  kind: Kind,
  now: Date,
): string | undefined {
  const held = [
    ...[...(watch.silences ?? []), ...made].flatMap(({ match, until, by }) =>
      now < until
        ? [{ match, text: `silence of ${describeMatch(match)} until ${until.toISOString()}, by ${by}` }]
        : [],
    ),
    ...(watch.windows ?? []).flatMap((window) =>
      isOpen(window, now.getTime())
        ? [{ match: window.match, text: `window of ${describeMatch(window.match)} (${window.reason})` }]
        : [],
    ),
  ];
  const first = (kind.jobs ?? [undefined]).map((job) =>
    held.find(({ match }) => holdsBack(match, kind, job)),
  );
  if (first.length === 0 || first.includes(undefined)) return undefined;
  return [...new Set(first.map((one) => one!.text))].join(", ");
}

/** Keys of alerts have numbers, names or times behind the rule, which no file can name ahead. */
function holdsBack(match: AlertMatch, { rule, severity }: Kind, job: string | undefined): boolean {
  return fits(match, { rule, key: `${rule}:0:`, severity, job });
}

function isOpen(window: WatchWindow, nowMs: number): boolean {
  if (window.kind === "single") return window.from.getTime() <= nowMs && nowMs < window.to.getTime();
  const begin = compileSchedule({ cron: window.cron, zone: window.zone }).previous(nowMs + 1);
  return begin !== null && nowMs < begin + window.durationMs;
}
