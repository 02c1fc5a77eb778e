/** What keeps every drill from beginning, whatever its host: the halt, and the run that is on. Pure. */
import type { PreflightItem } from "./cluster-items.ts";

/** The halt that is in force and the run that is on, as the records have them; null: none. */
export interface DrillSwitches {
  readonly halt: { readonly person: string; readonly reason: string } | null;
  /** Abandoned: its controller is silent, and the next run ends it before it begins. */
  readonly run: { readonly drill: string; readonly person: string; readonly abandoned: boolean } | null;
}

const busyHint =
  "escapement drill status shows it; escapement drill abort --reason TEXT ends it, also where its controller is gone";

export function switchItems({ halt, run }: DrillSwitches): PreflightItem[] {
  const busy = run !== null && !run.abandoned;
  return [
    {
      ...{ what: "drills are not halted", ok: halt === null, everywhere: true },
      detail: halt ? `halted by ${halt.person}: ${halt.reason}` : "open",
    },
    {
      ...{ what: "no other drill is on", ok: !busy, everywhere: true },
      detail: run
        ? `${run.drill} of ${run.person} is${run.abandoned ? ", abandoned: a run ends it first" : ""}`
        : "none is",
      ...(busy && { hint: busyHint }),
    },
  ];
}

/** What a run does before anything else; null: nothing. */
export function endsFirst(switches: DrillSwitches | undefined): string | null {
  const run = switches?.run;
  if (!run?.abandoned) return null;
  return `a run ends ${run.drill} of ${run.person}, whose controller is gone: puts its hosts right, removes its work, and looks at everything then`;
}

/** What is wrong with the cluster may come of the fault or the work of an abandoned run, and nobody knows it before that is ended. */
export function inDoubt({ hint: _, ...item }: PreflightItem): PreflightItem {
  return item.ok === false ? { ...item, ok: null, detail: `${item.detail} now` } : { ...item };
}
