/** Units: whether they are enabled, and whether they run. */
import { isUnknown, type UnitFact } from "../../bundle/reading.ts";
import type { UnitResource } from "../../resource.ts";
import { cannotTell, fine, type JudgeContext, type Judged } from "../judged.ts";
import type { Step } from "../step.ts";

type Verb = "enable" | "disable" | "mask" | "unmask";

export function isActive(unit: UnitFact): boolean {
  return unit.active === "active" || unit.active === "reloading" || unit.active === "activating";
}

export function judgeUnit(wanted: UnitResource, context: JudgeContext): Judged {
  const { name, enabled, running } = wanted;
  const unit = context.reading.unit(name);
  if (isUnknown(unit)) return cannotTell(unit);
  const exists = unit.load !== "not-found";
  const installing = context.installing(wanted);
  const brought = !exists && (installing !== undefined || context.bringsUnit(name));
  if (!exists && !brought && (enabled === true || running))
    return cannotTell(`${name} does not exist, and nothing in the plan brings it`);
  const lines: string[] = [];
  const steps: Step[] = [];
  for (const verb of fileVerbs(unit, enabled, brought)) {
    const undo = exists ? inverse(verb, unit.file) : verb === "mask" ? "unmask" : undefined;
    steps.push({ do: "unit-file", unit: name, verb, undo });
    lines.push(
      verb === "unmask" ? "unmasked" : `${unit.file || "not there"} → ${verb}d`.replace("maskd", "masked"),
    );
  }
  if (isActive(unit) !== running) {
    steps.push({ do: "unit-active", unit: name, running });
    lines.push(`${unit.active} → ${running ? "active" : "inactive"}`);
  }
  if (steps.length === 0)
    return running && unit.active === "activating"
      ? cannotTell(`${name} is starting, or fails and is started again`)
      : fine;
  return {
    state: exists ? "diff" : "missing",
    lines,
    steps,
    ...(installing !== undefined &&
      brought && { notPreviewable: `its unit comes with package ${installing}` }),
  };
}

function fileVerbs(unit: UnitFact, enabled: UnitResource["enabled"], brought: boolean): Verb[] {
  const masked = unit.file.startsWith("masked");
  if (enabled === "masked") return masked ? [] : ["mask"];
  const unmask: Verb[] = masked ? ["unmask"] : [];
  if (enabled) {
    // A static or generated unit has nothing to enable: others pull it in.
    const fixed = ["enabled", "static", "indirect", "generated", "alias", "transient"].includes(unit.file);
    return fixed ? unmask : [...unmask, "enable"];
  }
  // A package may enable what it brings.
  if (brought) return ["disable"];
  return unit.file.startsWith("enabled") ? [...unmask, "disable"] : unmask;
}

function inverse(verb: Verb, before: string): Verb | undefined {
  if (verb === "mask") return "unmask";
  if (verb === "unmask") return "mask";
  return before.startsWith("enabled") ? "enable" : "disable";
}
