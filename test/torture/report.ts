/** A torture run's result for people. */
import { type FindingClass, findingClasses } from "../../src/chaos/checkers/finding.ts";
import { paint, table } from "../../src/cli/terminal.ts";
import type { CampaignResult } from "./campaign.ts";
import { faultKinds, phases } from "./fault-plan.ts";
import type { ClusterResult } from "./torture-cluster.ts";

const shownLines = 10;

export function reportText(result: CampaignResult): string {
  const { clusters } = result;
  const faults = clusters.flatMap((one) => one.faults);
  const count = (accept: (fault: (typeof faults)[number]) => boolean) => String(faults.filter(accept).length);
  const otherPhases = [...new Set(faults.map((fault) => fault.phase))].filter(
    (phase) => !(phases as readonly string[]).includes(phase),
  );
  const parts = [
    table(
      ["fault", "injected", "proven", "attempts hit"],
      faultKinds.map((kind) => [
        kind,
        count((fault) => fault.kind === kind),
        count((fault) => fault.kind === kind && fault.proven),
        String(faults.reduce((sum, fault) => sum + (fault.kind === kind ? fault.attemptsHit : 0), 0)),
      ]),
    ),
    table(
      ["phase it struck in", "faults"],
      [...phases, ...otherPhases].map((phase) => [
        phase,
        count((fault) => fault.phase === phase && fault.proven),
      ]),
    ),
    table(
      [
        "cluster",
        "fires",
        "shards due",
        "attempts",
        "effects",
        "repeats",
        "refused: stale",
        "repeat",
        "store",
        "reruns",
        "verdict",
      ],
      clusters.map(({ verdict, staleWrites, reruns }, i) => [
        String(i + 1),
        String(verdict.figures.obligations),
        String(verdict.figures.shardsDue),
        String(verdict.figures.attempts),
        String(verdict.figures.effects),
        String(verdict.figures.repeats),
        String(verdict.figures.staleRefused),
        String(verdict.figures.repeatsRefused),
        String(Object.values(staleWrites).reduce((sum, n) => sum + n, 0)),
        String(reruns),
        painted(verdict.outcome),
      ]),
    ),
    table(
      ["violation", "found", "meaning"],
      (Object.keys(findingClasses) as FindingClass[]).map((name) => [
        name,
        String(clusters.reduce((sum, one) => sum + one.verdict.counts[name], 0)),
        findingClasses[name],
      ]),
    ),
    ...remarks(clusters),
    ...clusters.flatMap(({ circumstances }, i) =>
      circumstances.map((lines, n) =>
        [`around violation ${n + 1} of cluster ${i + 1}:`, ...lines.map((line) => `  ${line}`)].join("\n"),
      ),
    ),
    ...(result.unknown.length > 0
      ? [
          [
            "why a clean result is not a pass:",
            ...[...new Set(result.unknown)].map((line) => `  ${line}`),
          ].join("\n"),
        ]
      : []),
    `${painted(result.outcome)}: ${result.kills} kills and ${faults.length - result.kills} other faults in ${Math.round(result.faultSeconds)} s; seed ${result.seed}`,
  ];
  return parts.join("\n\n");
}

function remarks(clusters: readonly ClusterResult[]): string[] {
  const lists: [title: string, lines: string[]][] = [
    [
      "violations:",
      clusters.flatMap(({ verdict }, i) =>
        verdict.findings.map(
          (one) =>
            `cluster ${i + 1}: ${one.class}: ${one.job} ${one.fireTime}${one.shardNo === undefined ? "" : ` shard ${one.shardNo}`}: ${one.detail}`,
        ),
      ),
    ],
    [
      "processes that ended by themselves:",
      clusters.flatMap((one, i) => one.selfExits.map((line) => `cluster ${i + 1}: ${line}`)),
    ],
    [
      "processes that outlived their node:",
      clusters.flatMap((one, i) => (one.strays > 0 ? [`cluster ${i + 1}: ${one.strays}`] : [])),
    ],
  ];
  return lists.flatMap(([title, lines]) => {
    if (lines.length === 0) return [];
    const rest = lines.length > shownLines ? [`  … and ${lines.length - shownLines} more`] : [];
    return [[title, ...lines.slice(0, shownLines).map((line) => `  ${line}`), ...rest].join("\n")];
  });
}

function painted(outcome: CampaignResult["outcome"]): string {
  return { pass: paint.green, fail: paint.red, unknown: paint.yellow }[outcome](outcome);
}
