/** A drill document becomes a definition: variants whole, and what the schema cannot see checked. */
import { digest } from "./digest.ts";
import type {
  DrillDefinition,
  DrillFault,
  DrillHold,
  DrillVariant,
  PassRules,
  ResolvedDrill,
} from "./drill-definition.ts";
import type { DrillDocument, FaultDocument, HoldDocument, PassDocument } from "./drill-schema.ts";
import {
  asksForTakeover,
  classProblem,
  isCounted,
  proofProblem,
  settleProblem,
  slackProblem,
} from "./drill-sense.ts";
import { documentsOf, type LoadedDocument, loadFiles, loadText } from "./load.ts";
import { compareProblems, formatPath, type Path, type Problem } from "./problem.ts";

export interface LoadedDrills {
  /** By name. */
  readonly drills: readonly ResolvedDrill[];
  readonly problems: readonly Problem[];
}

/**
 * Reads files and folders; documents of other kinds are left to others. Never throws for what is in them.
 * @param findingClasses of the checker: what `allowedFailures` may name
 */
export async function loadDrills(
  paths: readonly string[],
  findingClasses: readonly string[],
): Promise<LoadedDrills> {
  return resolveAll(await loadFiles(paths), findingClasses);
}

/** Reads the text of one file that a job carries. @param source the name that problems carry */
export function parseDrills(text: string, source: string, findingClasses: readonly string[]): LoadedDrills {
  return resolveAll(loadText(text, source), findingClasses);
}

function resolveAll(loaded: ReturnType<typeof loadText>, findingClasses: readonly string[]): LoadedDrills {
  const problems = [...loaded.problems];
  const drills: ResolvedDrill[] = [];
  for (const document of documentsOf(loaded.documents, "Drill")) {
    const resolved = resolveDrill(document, findingClasses);
    problems.push(...resolved.problems);
    if (resolved.drill) drills.push(resolved.drill);
  }
  return {
    drills: drills.sort((a, b) => (a.definition.name < b.definition.name ? -1 : 1)),
    problems: problems.sort(compareProblems),
  };
}

type DrillFile = LoadedDocument<"Drill"> & { readonly value: DrillDocument };

export function resolveDrill(
  document: DrillFile,
  findingClasses: readonly string[],
): { drill?: ResolvedDrill; problems: readonly Problem[] } {
  const { metadata, spec } = document.value;
  const problems: Problem[] = [];
  const complain = (path: Path, message: string, what?: "key") =>
    problems.push({ ...document.positionOf(path, what), path: formatPath(path), message });
  const slack = slackProblem(spec.class, spec);
  if (slack !== null) complain(["spec", slack[0]], slack[1]);
  const restless = settleProblem(spec.settle);
  if (restless !== null) complain(["spec", "settle"], restless);
  const written = spec.variants ?? [{ name: metadata.name }];
  const variants: DrillVariant[] = [];
  const names = new Set<string>();
  for (const [i, own] of written.entries()) {
    const at: Path = spec.variants ? ["spec", "variants", i] : ["spec"];
    if (names.has(own.name)) complain([...at, "name"], "is used twice");
    names.add(own.name);
    const whole = { ...spec, ...own };
    const { target, fault, hold, proof, limitAfterHold, pass } = whole;
    for (const field of ["target", "fault", "hold", "proof"] as const)
      if (whole[field] === undefined) complain(at, `has no ${field}, neither has the drill`, "key");
    if (!target || !fault || !hold || !proof) continue;
    const variant: DrillVariant = {
      name: own.name,
      target: { role: target.role, ...(target.owning && { owning: target.owning }) },
      fault: faultOf(fault),
      hold: holdOf(hold),
      limitAfterHoldMs: limitAfterHold ?? spec.limitAfterHold,
      proof,
      pass: passOf(pass ?? spec.pass),
    };
    const path = (field: Field): Path => (spec.variants && field in own ? [...at, field] : ["spec", field]);
    for (const [field, message] of variantProblems(variant, spec, findingClasses))
      complain(path(field), message);
    variants.push(variant);
  }
  if (problems.length > 0) return { problems };
  const definition = define(document.value, variants);
  const { file, line, column } = document;
  return { drill: { definition, digest: digest(definition), file, line, column }, problems };
}

type Field = "class" | "target" | "fault" | "hold" | "proof" | "pass";

function* variantProblems(
  variant: DrillVariant,
  { class: stands, load, blastRadius }: DrillDocument["spec"],
  findingClasses: readonly string[],
): Generator<readonly [Field, string]> {
  const { target, fault, hold, proof, pass } = variant;
  const misnamed = classProblem(stands, variant);
  if (misnamed !== null) yield ["class", misnamed];
  if (target.role === "executor" && !target.owning)
    yield ["target", "must have owning: running-shard: an idle executor proves nothing"];
  if (target.role !== "executor" && target.owning)
    yield ["target", `has owning, which only an executor can; the role is ${target.role}`];
  if (target.role === "record-store" && !blastRadius.recordStore)
    yield ["target", "is the record store, and blastRadius does not say recordStore: true"];
  if (target.role === "record-store" && fault.kind === "cut" && fault.keep.includes("record-store"))
    yield ["fault", "keeps the record store reachable, which is the target"];
  for (const one of proof) {
    const unseen = proofProblem(one, variant);
    if (unseen !== null) yield ["proof", unseen];
  }
  if (proof.every(({ from }) => from === "target"))
    yield ["proof", "is only the target's own word; name at least one from another place"];
  const shortest = "ms" in hold ? hold.ms : hold.atLeastMs;
  const fires = load.jobs * Math.floor(shortest / load.every);
  if (fires < load.obligations)
    yield [
      "hold",
      `is too short: at least ${fires} fire(s) come due in it, load.obligations asks for ${load.obligations}`,
    ];
  if (pass.takeoverWithinMs === undefined && asksForTakeover(stands))
    yield ["pass", `has no takeoverWithin, and the checklist counts a pass of ${stands}`];
  if (pass.allowedFailures.length > 0 && isCounted(stands))
    yield ["pass", `allows failures, and the checklist counts a pass of ${stands}`];
  for (const name of pass.allowedFailures)
    if (!findingClasses.includes(name))
      yield ["pass", `allows ${name}, which the checker never finds; it finds ${findingClasses.join(", ")}`];
  if (fault.kind !== "clock" && (pass.offsetBelowMs !== undefined || pass.culpritNamed))
    yield ["pass", "asks about clocks, and the fault does not move one"];
}

function faultOf(fault: FaultDocument): DrillFault {
  switch (fault.kind) {
    case "clock":
      return {
        kind: "clock",
        offsetSeconds: Math.round((fault.ahead ?? -(fault.behind ?? 0)) / 1_000),
      };
    case "fill-disk":
      return { kind: "fill-disk", path: fault.path, reserveBytes: fault.reserve };
    case "memory-limit":
      return { kind: "memory-limit", limitBytes: fault.limit };
    default:
      return fault;
  }
}

function holdOf(hold: HoldDocument): DrillHold {
  return hold.for !== undefined
    ? { ms: hold.for }
    : { times: hold.times!, of: hold.of!, atLeastMs: hold.atLeast ?? 0 };
}

function passOf(pass: PassDocument): PassRules {
  return {
    allowedFailures: pass.allowedFailures,
    refusedStaleWrites: pass.refusedStaleWrites,
    ...(pass.startWithin !== undefined && { startWithinMs: pass.startWithin }),
    ...(pass.takeoverWithin !== undefined && { takeoverWithinMs: pass.takeoverWithin }),
    ...(pass.restartedWithin !== undefined && { restartedWithinMs: pass.restartedWithin }),
    ...(pass.offsetBelow !== undefined && { offsetBelowMs: pass.offsetBelow }),
    culpritNamed: pass.culpritNamed,
  };
}

function define({ metadata, spec }: DrillDocument, variants: readonly DrillVariant[]): DrillDefinition {
  const { steadyState, load, abort, settle, blastRadius } = spec;
  return {
    name: metadata.name,
    class: spec.class,
    description: spec.description,
    steadyState: {
      standbyHealthy: steadyState.standbyHealthy,
      offsetBelowMs: steadyState.offsetBelow,
      backlogBelow: steadyState.backlogBelow,
      noCriticalAlerts: steadyState.noCriticalAlerts,
    },
    load: {
      jobs: load.jobs,
      everyMs: load.every,
      shards: load.shards,
      shardMs: load.shardDuration,
      obligations: load.obligations,
    },
    abort: {
      backlogOver: abort.backlogOver,
      otherHostUnhealthy: abort.otherHostUnhealthy,
      freeBelowBytes: abort.freeBelow,
    },
    settle: {
      minimumMs: settle.minimum,
      quietReads: settle.quietReads,
      readEveryMs: settle.readEvery,
      deadlineMs: settle.deadline,
    },
    blastRadius: {
      hosts: blastRadius.hosts,
      recordStore: blastRadius.recordStore,
      awayFromPeakMs: blastRadius.awayFromPeak,
    },
    variants,
  };
}
