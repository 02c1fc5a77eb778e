/** Prints what a calculator found: figures with their working, what binds, and what to know. */
import type { Answer, Figure } from "../../capacity/figure.ts";
import { formatFigure } from "../../capacity/format.ts";
import { paint, print, table } from "../terminal.ts";

/** Figures in reading order, each with formula and source. */
export function printFigures(figures: Readonly<Record<string, Figure>>): void {
  print(
    table(
      ["what", "value", "how", "source"],
      Object.values(figures).map((one) => [
        one.label,
        paint.bold(formatFigure(one)),
        one.formula,
        paint.dim(one.source.id),
      ]),
    ),
  );
}

/** Everything after the headline. */
export function printAnswer(answer: Answer): void {
  print();
  printFigures(answer.figures);
  print();
  print(`binding: ${paint.bold(answer.binding.constraint)}, ${answer.binding.why}`);
  for (const { name, allows, formula } of answer.binding.limits)
    print(`  ${name}: ${allows}  ${paint.dim(formula)}`);
  printNotes(answer.notes);
}

export function printNotes(notes: readonly string[]): void {
  if (notes.length === 0) return;
  print();
  for (const note of notes) print(`note: ${note}`);
}
