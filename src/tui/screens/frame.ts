/** The frame around every screen: header with the screens' numbers and the data's age, bottom bar, and what lies over it. */
import { actionNamed } from "../actions/actions.ts";
import { commandOf, refusalOf, shellLine } from "../actions/ask.ts";
import { candidates } from "../state/command-line.ts";
import { type Binding, bindingsOf } from "../state/keymap.ts";
import { currentView, listOf, type State } from "../state/state.ts";
import {
  cleaned,
  cut,
  cutStart,
  emptyLine,
  ends,
  fitLine,
  type Line,
  line,
  type Span,
  span,
  textWidth,
  wrap,
} from "../text/line.ts";
import { panel } from "../text/panel.ts";
import { type Area, bodyArea, frameArea } from "./area.ts";
import { headerLine } from "./header.ts";
import { helpLines } from "./help.ts";
import { screenOf } from "./registry.ts";

/** Smaller than this nothing can be drawn that helps. */
export const smallest = { columns: 60, rows: 16 };

/** The whole screen: exactly the lines of the frame's area. */
export function drawFrame(state: State): readonly Line[] {
  const { width, height } = frameArea(state);
  if (state.size.columns < smallest.columns || state.size.rows < smallest.rows) return tooSmall(state);
  const screen = screenOf(state);
  const body = bodyArea(state);
  const drawn =
    state.mode.kind === "help"
      ? helpLines(state, state.mode.top, body)
      : screen.draw(state, body, listOf(state));
  const lines = [
    headerLine(state, width),
    ...banner(state, width),
    ...overlaid(state, drawn.slice(0, body.height), body),
  ];
  while (lines.length < height - 1) lines.push(emptyLine);
  return [...lines.slice(0, height - 1), bar(state, width)];
}

function tooSmall(state: State): Line[] {
  const { columns, rows } = state.size;
  const text = `at least ${smallest.columns}×${smallest.rows} is needed, this is ${columns}×${rows}; q leaves`;
  return wrap(text, Math.max(1, columns - 1))
    .slice(0, Math.max(1, rows - 1))
    .map((one) => line(one));
}

/** While the store is away: why, and when it is asked again. */
function banner(state: State, width: number): Line[] {
  const { down: reason, retryAtMs } = state.store;
  if (reason === null) return [];
  const down = reason.replace(/^the record store does not answer: /, "no store: ");
  const seconds = Math.ceil((retryAtMs - state.nowMs) / 1_000);
  const retry = seconds > 0 ? `next try in ${seconds} s` : "asking now";
  const last = state.picture.cluster ? "this is the last data" : "nothing has been read yet";
  // The header and the grey tell as well that nothing is new; only this tells why.
  const whole = ` · ${last} · ${retry}`;
  const after = textWidth(down) + textWidth(whole) + 2 <= width ? whole : ` · ${retry}`;
  return [
    fitLine(
      line(
        span("✗ ", "bad"),
        span(cut(down, Math.max(20, width - textWidth(after) - 2)), "bad"),
        span(after, "bad"),
      ),
      width,
    ),
  ];
}

/** For the sign and the cursor, and what is said at the other end. */
const typedBeside = 36;

function bar(state: State, width: number): Line {
  if (state.mode.kind === "filter") {
    const { rows } = screenOf(state).rows(state);
    return ends(
      line(span("/", "key"), cutStart(listOf(state).filter, width - typedBeside), span("▌", "key")),
      line(span(`${rows.length} ${rows.length === 1 ? "row" : "rows"} · ⏎ keep · esc undo`, "muted")),
      width,
    );
  }
  if (state.mode.kind === "command")
    return fitLine(line(span(":", "key"), cutStart(state.mode.text, width - 3), span("▌", "key")), width);
  return fitLine(line(...keys(state, width)), width);
}

/** What fits of the bindings that matter here; one that cannot be used now is grey. */
function keys(state: State, width: number): Span[] {
  const screen = screenOf(state);
  const subject = screen.subject(state, screen.rows(state).rows[listOf(state).index]);
  const shown = bindingsOf(currentView(state).screen)
    .filter(({ bar: place }) => place !== undefined)
    .sort((a, b) => a.bar! - b.bar!);
  const filter = listOf(state).filter;
  const busy = state.busy.length === 0 ? [] : [span(`▸ ${state.busy.join(", ")}…  `, "busy")];
  const spans: Span[] = [...busy, ...(filter === "" ? [] : [span(`/${filter}  `, "mark")])];
  const sizeOf = ({ shown: key, label }: Binding) => textWidth(key) + textWidth(label) + 3;
  // The way out and the way to all the others are there at every width.
  const last = shown.filter(({ bar: place }) => place! >= 8);
  let room = width - spans.reduce((sum, { text }) => sum + textWidth(text), 0);
  room -= last.reduce((sum, one) => sum + sizeOf(one), 0);
  const fitting = shown.filter((one) => {
    if (last.includes(one)) return true;
    room -= sizeOf(one);
    return room >= 0;
  });
  for (const { shown: key, label, intent } of fitting) {
    const action = intent.do === "act" ? actionNamed(intent.action) : undefined;
    const off = action !== undefined && refusalOf(action, state, subject) !== null;
    spans.push(span(key, off ? "muted" : "key"), span(` ${label}  `, off ? "muted" : "plain"));
  }
  return spans;
}

/** Completions of `:`, questions and notices lie over the lower end of the body: the bar below stays. */
function overlaid(state: State, lines: readonly Line[], area: Area): readonly Line[] {
  const over = [...boxLines(state, area), ...noticeLines(state, area)];
  if (over.length === 0) return lines;
  const filled = [...lines];
  while (filled.length < area.height) filled.push(emptyLine);
  return [...filled.slice(0, area.height - over.length), ...over];
}

function boxLines(state: State, area: Area): Line[] {
  if (state.mode.kind === "command") return completionBox(state, area);
  return state.mode.kind === "ask" ? questionBox(state, area) : [];
}

/** What was said last, whole, in as many lines as it takes; esc takes it away. */
function noticeLines({ notice }: State, area: Area): Line[] {
  if (!notice) return [];
  const all = wrap(cleaned(notice.text), area.width - 2);
  const lines = all.slice(0, mostNoticeLines);
  if (all.length > lines.length)
    lines[lines.length - 1] = cut(`${lines.at(-1)} ${all[mostNoticeLines]}…`, area.width - 2);
  return lines.map((text, i) =>
    fitLine(line(span(i === 0 ? "▸ " : "  ", notice.tone), span(text, notice.tone)), area.width),
  );
}

const mostNoticeLines = 3;

function completionBox(state: State, area: Area): Line[] {
  if (state.mode.kind !== "command") return [];
  const { text, chosen } = state.mode;
  const found = candidates(state, text);
  const height = Math.min(found.length, Math.max(3, Math.floor(area.height / 2) - 2));
  const top = Math.max(0, Math.min(chosen - height + 1, found.length - height));
  const lines = found.slice(top, top + height).map((one, i) => {
    const name = one.text.padEnd(24);
    return top + i === chosen
      ? line(span(`▸ ${name} ${one.help}`, "selected"))
      : line("  ", span(name, "strong"), " ", span(one.help, "muted"));
  });
  const note = line(span("tab completes · ⏎ does it · esc", "muted"));
  return panel(
    { title: "command", note, width: area.width, height: Math.max(1, lines.length) + 2, focused: true },
    lines.length > 0 ? lines : [line(span("nothing begins like this", "muted"))],
  );
}

function questionBox(state: State, area: Area): Line[] {
  if (state.mode.kind !== "ask") return [];
  const { action: name, subject, questions, at } = state.mode;
  const action = actionNamed(name)!;
  const width = Math.max(...questions.map(({ label }) => label.length));
  const asked = questions.map(({ label, value, hint }, i) => {
    const shown =
      i === at
        ? [
            span(cutStart(value, area.width - width - 9), "strong"),
            span("▌", "key"),
            span(value === "" ? ` ${hint}` : "", "muted"),
          ]
        : [span(value, i < at ? "plain" : "muted")];
    return line(
      span(i === at ? "▸ " : "  ", "key"),
      span(`${label.padEnd(width)}  `, i === at ? "strong" : "muted"),
      ...shown,
    );
  });
  const command = shellLine(["escapement", ...commandOf(action, subject, questions, state)]);
  const lines = [...asked, emptyLine, line(span("$ ", "muted"), span(command, "muted"))];
  const note = line(span("⏎ next · esc do nothing", "muted"));
  const target = Object.entries(subject)
    .filter(([part]) => action.needs.includes(part))
    .map(([, value]) => value)
    .join(" ");
  return panel(
    { title: `${action.title}: ${target}`, note, width: area.width, height: lines.length + 2, focused: true },
    lines,
  );
}
