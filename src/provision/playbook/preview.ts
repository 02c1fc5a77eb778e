/** `--dry-run`: what a run would do, found out by looking only. */
import { unitKey } from "./progress.ts";
import { ask } from "./run-unit.ts";
import { contextOf, hostsOf, type RunOptions, runToTakeUp } from "./runner.ts";

export interface Preview {
  readonly step: string;
  readonly host: string;
  readonly would: "skip" | "do" | "wait";
  readonly because: string;
}

/** Asks every guard and every requirement; changes nothing, the journal included. @throws E_REFUSED as the run would */
export async function previewPlaybook<World>(options: RunOptions<World>): Promise<readonly Preview[]> {
  const { playbook, registry, from } = options;
  const settled = runToTakeUp(options)?.settled ?? new Set<string>();
  const first = Math.max(
    0,
    from === undefined ? 0 : playbook.spec.steps.findIndex((step) => step.id === from),
  );
  const previews: Preview[] = [];
  for (const step of playbook.spec.steps.slice(first)) {
    for (const host of await hostsOf(options, step)) {
      const unit = { step: step.id, host: host.name };
      if (settled.has(unitKey(unit.step, unit.host))) {
        previews.push({ ...unit, would: "skip", because: "done by the run that would be taken up" });
        continue;
      }
      const context = contextOf(options, host);
      const guard = step.guard && (await ask(registry, context, step.guard));
      if (guard?.answer === "yes") {
        previews.push({ ...unit, would: "skip", because: guard.because });
        continue;
      }
      const lacking: string[] = [];
      for (const required of step.requires) {
        const { answer, because } = await ask(registry, context, required);
        if (answer !== "yes") lacking.push(`${required.check}: ${answer}, ${because}`);
      }
      previews.push({
        ...unit,
        would: lacking.length > 0 ? "wait" : "do",
        because: lacking.length > 0 ? lacking.join("; ") : (guard?.because ?? ""),
      });
    }
  }
  return previews;
}
