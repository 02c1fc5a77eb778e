/**
 * SARIF 2.1.0 as GitHub's code scanning takes it, which is less than the
 * standard allows: a result without a place in the repository makes it refuse
 * the whole file, and so does a URI that is empty or not relative.
 */
import { createHash } from "node:crypto";

export interface SarifRule {
  readonly id: string;
  readonly short: string;
  readonly full: string;
  readonly help: string;
  readonly tags: readonly string[];
}

export interface SarifResult {
  readonly rule: string;
  readonly level: "error" | "warning" | "note";
  readonly message: string;
  /** A path inside the repository, with slashes. */
  readonly file: string;
  readonly line: number;
  /** What makes this result the same one in the next run: nothing that changes from run to run. */
  readonly identity: string;
  /** Somebody accepted it. */
  readonly accepted?: string;
}

export interface SarifRun {
  readonly tool: string;
  readonly version: string;
  /** Tells runs of different tools and clusters apart. */
  readonly category: string;
  readonly rules: readonly SarifRule[];
  /** The worst first: of more than {@link mostResults} the rest is left out, and counted. */
  readonly results: readonly SarifResult[];
}

/** GitHub takes 25,000 results and shows 5,000. */
export const mostResults = 5_000;
const longestMessage = 1_000;
const mostTags = 10;

/** The document as an object. @throws RangeError for a place that is not in the repository: that is our bug */
export function sarifLog(run: SarifRun): Record<string, unknown> {
  const shown = run.results.slice(0, mostResults);
  const left = run.results.length - shown.length;
  const indexes = new Map(run.rules.map(({ id }, i) => [id, i]));
  const seen = new Map<string, number>();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: run.tool,
            version: run.version,
            rules: run.rules.map(ruleObject),
          },
        },
        automationDetails: { id: `${run.category}/` },
        columnKind: "utf16CodeUnits",
        invocations: [
          {
            executionSuccessful: true,
            ...(left > 0 && {
              toolExecutionNotifications: [
                { level: "warning", message: { text: `${left} more result(s) are in the full report` } },
              ],
            }),
          },
        ],
        results: shown.map((result) => resultObject(result, indexes, seen)),
      },
    ],
  };
}

function ruleObject({ id, short, full, help, tags }: SarifRule): Record<string, unknown> {
  return {
    id,
    name: id,
    shortDescription: { text: cut(short) },
    fullDescription: { text: cut(full) },
    help: { text: help },
    defaultConfiguration: { level: "error" },
    properties: { tags: tags.slice(0, mostTags), precision: "very-high" },
  };
}

function resultObject(
  result: SarifResult,
  indexes: ReadonlyMap<string, number>,
  seen: Map<string, number>,
): Record<string, unknown> {
  const count = (seen.get(result.identity) ?? 0) + 1;
  seen.set(result.identity, count);
  const fingerprint = `${createHash("sha256").update(result.identity).digest("hex").slice(0, 16)}:${count}`;
  return {
    ruleId: result.rule,
    ruleIndex: indexes.get(result.rule) ?? -1,
    kind: "fail",
    level: result.level,
    message: { text: cut(result.message) || result.rule },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: relativeUri(result.file) },
          region: { startLine: Math.max(1, Math.trunc(result.line)) },
        },
      },
    ],
    // GitHub reads the first of the two.
    partialFingerprints: { primaryLocationLineHash: fingerprint, "escapement/v1": fingerprint },
    ...(result.accepted !== undefined && {
      suppressions: [{ kind: "external", status: "accepted", justification: cut(result.accepted) }],
    }),
  };
}

/** `jobs/a b.yaml` becomes `jobs/a%20b.yaml`; a colon would make its beginning a scheme. */
function relativeUri(file: string): string {
  const parts = file.split("/").filter((part) => part !== "." && part !== "");
  if (parts.length === 0 || parts.includes("..") || file.startsWith("/"))
    throw new RangeError(`not a place inside the repository: ${JSON.stringify(file)}`);
  return parts.map(encodeURIComponent).join("/");
}

function cut(text: string): string {
  return text.length > longestMessage ? `${text.slice(0, longestMessage - 1)}…` : text;
}
