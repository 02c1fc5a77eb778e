/** Prints what a run would do. */
import { formatDuration } from "../../base/duration.ts";
import type { PreflightItem } from "../../chaos/plan/cluster-items.ts";
import { type DrillPlan, type VariantPlan, whereText } from "../../chaos/plan/drill-plan.ts";
import { paint } from "../terminal.ts";

export function planText(plan: DrillPlan): string {
  const lines = [`${paint.bold(plan.drill)}  ${plan.class}`, plan.description];
  const list = (title: string, texts: readonly string[]) =>
    texts.forEach((text, i) => {
      lines.push(`  ${i === 0 ? paint.dim(title.padEnd(10)) : " ".repeat(10)} ${text}`);
    });
  list("first", plan.endsFirst === null ? [] : [paint.yellow(plan.endsFirst)]);
  list("needs", plan.before);
  const conditions = plan.conditions ?? [];
  const missing = conditions.filter(({ ok }) => ok === false);
  list("not so", missing.flatMap(conditionLines(paint.red)));
  list(
    plan.endsFirst === null ? "not seen" : "in doubt",
    conditions.filter(({ ok }) => ok === null).flatMap(conditionLines(paint.yellow)),
  );
  list("load", [plan.load]);
  list("ends early", plan.abort);
  for (const one of plan.variants) {
    const { holdMs, limitMs, settleMs } = one.times;
    lines.push("", paint.bold(one.variant === plan.drill ? "fault" : one.variant));
    list("where", [where(one, plan.endsFirst !== null)]);
    if (one.notAllowedBy.length > 0)
      list("refused", [
        paint.red(
          `not allowed by the profile of ${one.notAllowedBy.join(", ")} (drills.faults): not done there`,
        ),
      ]);
    list("does", [one.fault]);
    list("for", [`${formatDuration(holdMs)}; no longer than ${formatDuration(limitMs)}, whatever happens`]);
    list("back by", [one.wayBack]);
    list("settles", [`${formatDuration(settleMs)} or longer`]);
    list("proof", one.proof);
    list("pass", one.pass);
  }
  const count = plan.variants.length > 1 ? `${plan.variants.length} faults, one after the other; ` : "";
  lines.push(
    "",
    `${count}${formatDuration(plan.expectedMs)} or longer in all. escapement drill halt puts every host right at once.`,
  );
  if (missing.length > 0) lines.push(paint.red("A run would be refused now: see `not so`."));
  return lines.join("\n");
}

/** @param again the run looks again before it chooses */
function where(one: VariantPlan, again: boolean): string {
  if (one.refused === null) return whereText(one);
  return again ? paint.yellow(`as it is now, ${whereText(one)}`) : paint.red(whereText(one));
}

function conditionLines(colour: (text: string) => string) {
  return ({ what, detail, hint }: PreflightItem): string[] => [
    colour(`${what} (${detail})`),
    ...(hint === undefined ? [] : [`  ${hint}`]),
  ];
}
