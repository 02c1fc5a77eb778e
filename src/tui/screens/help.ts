/** The page of all keys of the screen below it: the keymap, read aloud. */
import { actionNamed } from "../actions/actions.ts";
import { type Binding, bindingsOf } from "../state/keymap.ts";
import { currentView, type State } from "../state/state.ts";
import { emptyLine, type Line, line, pad, span } from "../text/line.ts";
import { panel } from "../text/panel.ts";
import type { Area } from "./area.ts";

export function helpLines(state: State, top: number, area: Area): Line[] {
  const { screen } = currentView(state);
  const lines = linesOf(state);
  const shown = lines.slice(Math.min(top, lastTop(lines, area)));
  const note = line(span("j k scroll · any other key closes", "muted"));
  return panel(
    { title: `keys of ${screen}`, note, width: area.width, height: area.height, focused: true },
    shown,
  );
}

/** Where the page can be scrolled to. */
export function lastHelpTop(state: State, area: Area): number {
  return lastTop(linesOf(state), area);
}

function lastTop(lines: readonly Line[], area: Area): number {
  return Math.max(0, lines.length - area.height + 2);
}

function linesOf(state: State): Line[] {
  const { screen } = currentView(state);
  const groups = ["Go", "Move", "Sort", "Change"] as const;
  return groups.flatMap((group) => {
    const bindings = bindingsOf(screen).filter((one) => one.group === group);
    if (bindings.length === 0) return [];
    return [
      line(
        span(group, "title"),
        span(group === "Change" && !state.operator ? `  ${state.readOnlyReason}` : "", "warn"),
      ),
      ...bindings.map((one) => bindingLine(one)),
      emptyLine,
    ];
  });
}

function bindingLine({ shown, help, intent }: Binding): Line {
  const typing = intent.do === "act" && actionNamed(intent.action) ? "; asks why, and for the name" : "";
  return line(span(pad(shown, 11), "key"), help, span(typing, "muted"));
}
