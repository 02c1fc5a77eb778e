/** One item of the checklist, opened: every answer, and the evidence for it. */
import { checklistRows, type ItemRow } from "../data/checklist-rows.ts";
import { currentView, listOf, type State } from "../state/state.ts";
import { emptyLine, type Line, line, span, wrap } from "../text/line.ts";
import { panel } from "../text/panel.ts";
import type { Area } from "./area.ts";
import { remember, type Screen } from "./screen.ts";
import { inSight, scrolled } from "./scrolled.ts";
import { statusSpan } from "./status-text.ts";

export const itemScreen: Screen<string> = {
  ...scrolled((state, width) => linesOf(itemOf(state), width)),
  name: "item",
  title: "Item",
  draw: drawItem,
  subject: (state) => {
    const view = currentView(state);
    return { cluster: "the cluster", ...(view.screen === "item" ? { item: String(view.number) } : {}) };
  },
  command: (state) => {
    const view = currentView(state);
    return view.screen === "item" ? ["checklist", "--item", String(view.number), "--verbose"] : [];
  },
};

function itemOf(state: State): ItemRow | undefined {
  const view = currentView(state);
  if (view.screen !== "item") return undefined;
  const rows = checklistRows(state.picture.checklists?.value ?? [], state.picture.report?.value ?? undefined);
  return rows.find(({ number }) => number === view.number);
}

function drawItem(state: State, area: Area): Line[] {
  const item = itemOf(state);
  const { shown, more } = inSight(linesOf(item, area.width - 4), listOf(state, "item"), area);
  const note = line(span(more > 0 ? `${more} more lines below` : "", "muted"));
  return panel(
    {
      title: item ? `${item.number}. ${item.question}` : "Item",
      note,
      width: area.width,
      height: area.height,
      focused: true,
    },
    shown,
  );
}

const linesOf = remember((item: ItemRow | undefined, width: number): Line[] => {
  if (!item) return [line(span("no run has asked this item", "muted"))];
  const head = [line(statusSpan(item.verdict), span(`  ${item.message}`, "plain"))];
  const why = item.why ? wrap(item.why, width).map((text) => line(span(text, "muted"))) : [];
  const how = item.how ? wrap(`Checked: ${item.how}`, width).map((text) => line(span(text, "muted"))) : [];
  if (item.results.length === 0) {
    const open = item.open.map(({ kind, name, verdict }) => line(statusSpan(verdict), `  ${kind} ${name}`));
    return [
      ...head,
      ...why,
      emptyLine,
      ...open,
      emptyLine,
      ...wrap(
        "The evidence is in the report, not in the store: start with --report FILE, or run the checklist from here with R.",
        width,
      ).map((text) => line(span(text, "warn"))),
    ];
  }
  // What needs doing comes first.
  const order = ["fail", "unknown", "waived", "pass", "not-applicable"];
  const results = [...item.results].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  return [...head, ...why, ...how, ...results.flatMap((result) => resultLines(result, width))];
});

function resultLines(result: ItemRow["results"][number], width: number): Line[] {
  const where = result.scope ? `${result.scope.kind} ${result.scope.name}` : "";
  return [
    emptyLine,
    line(statusSpan(result.verdict), span(`  ${where}`, "strong")),
    ...wrap(result.message, width - 2).map((text) => line(`  ${text}`)),
    ...(result.todo
      ? wrap(`to do: ${result.todo}`, width - 2).map((text) => line(span(`  ${text}`, "warn")))
      : []),
    ...result.evidence.flatMap((one) => [
      line(
        span(`  ${one.kind}`, "title"),
        span(one.host ? ` on ${one.host}` : "", "muted"),
        span(one.at ? `  ${one.at}` : "", "muted"),
      ),
      ...wrap(one.what, width - 4).map((text) => line(span(`    ${text}`, "key"))),
      ...one.output
        .split("\n")
        .slice(0, 40)
        .map((text) => line(`    ${text}`)),
    ]),
  ];
}
