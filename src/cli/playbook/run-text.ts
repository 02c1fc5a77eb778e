/** What a run of a playbook says while it goes, and at its end. */
import type { Playbook } from "../../provision/playbook/load-playbook.ts";
import type { Preview } from "../../provision/playbook/preview.ts";
import type { RunEvent, RunResult } from "../../provision/playbook/runner.ts";
import { paint, print, say, table } from "../terminal.ts";

const outcomePaint = {
  done: paint.green,
  skipped: paint.dim,
  failed: paint.red,
  interrupted: paint.yellow,
} as const;

export function tellEvent(event: RunEvent): void {
  switch (event.event) {
    case "run":
      if (event.resumed) say("going on with the run before");
      return;
    case "step":
      say(
        `${paint.bold(event.step)}  ${event.title}${event.hosts.length === 0 ? paint.dim("  (no such host)") : ""}`,
      );
      return;
    case "begin":
      return;
    case "end":
      say(`  ${event.host}  ${outcomePaint[event.outcome](event.outcome)}  ${event.because}`);
      return;
    case "undone":
      say(`  ${event.step} on ${event.host}  ${paint.green("taken back")}  ${event.because}`);
  }
}

export function tellResult(playbook: Playbook, { outcome, units }: RunResult, journal: string): void {
  const count = (wanted: string) => units.filter((unit) => unit.outcome === wanted).length;
  print(
    `${playbook.name}: ${outcome}; ${count("done")} done, ${count("skipped")} done before or left out, ${count("failed")} failed`,
  );
  if (outcome !== "failed" && outcome !== "interrupted") return;
  for (const unit of units.filter((one) => one.outcome === "failed"))
    print(`  ${unit.step} on ${unit.host}: ${unit.because}`);
  const canUndo = playbook.spec.steps.some((step) => step.undo);
  print(`run it again to go on${canUndo ? ", or with --undo to take it back" : ""}; journal: ${journal}`);
}

const wouldText = {
  skip: paint.dim("done already"),
  do: paint.yellow("would do"),
  wait: paint.red("not yet"),
} as const;

export function previewTable(previews: readonly Preview[]): string {
  return table(
    ["step", "host", "", "because"],
    previews.map((one) => [one.step, one.host, wouldText[one.would], one.because]),
  );
}
