/**
 * JUnit XML as Jenkins, GitLab and the Ant task read it. There is no single
 * schema; what is written here is what all of them take: every suite and every
 * case has a name and a class, no attribute that one of them does not know, the
 * verdict before any output, and output at the suite only. Readers of GitLab
 * drop the second of two equal names, so names are made unique.
 */
import { xmlAttribute, xmlText } from "./xml.ts";

export interface JunitCase {
  readonly name: string;
  readonly seconds: number;
  readonly verdict:
    | { readonly kind: "passed" }
    | {
        readonly kind: "failure" | "error";
        readonly type: string;
        readonly message: string;
        readonly text: string;
      }
    | { readonly kind: "skipped"; readonly reason: string };
}

export interface JunitSuite {
  /** Also the class of its cases. */
  readonly name: string;
  readonly at: Date;
  readonly hostname: string;
  readonly seconds: number;
  readonly properties: Readonly<Record<string, string>>;
  readonly cases: readonly JunitCase[];
  readonly output: string;
}

/** One document. @param packageName groups the suites */
export function junitXml(suites: readonly JunitSuite[], packageName: string): string {
  const body = suites.map((suite, id) => suiteXml(suite, id, packageName)).join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${body}\n</testsuites>\n`;
}

function suiteXml(suite: JunitSuite, id: number, packageName: string): string {
  const { cases } = suite;
  const count = (kind: string) => cases.filter(({ verdict }) => verdict.kind === kind).length;
  const skipped = count("skipped");
  const attributes = {
    name: name(suite.name),
    package: name(packageName),
    id: String(id),
    // The schema of Ant wants local time without a zone; ours is UTC.
    timestamp: suite.at.toISOString().slice(0, 19),
    hostname: name(suite.hostname),
    tests: String(cases.length),
    failures: String(count("failure")),
    errors: String(count("error")),
    ...(skipped > 0 && { skipped: String(skipped) }),
    time: seconds(suite.seconds),
  };
  const properties = Object.entries(suite.properties).map(
    ([key, value]) => `      <property${attributesXml({ name: key, value })}/>`,
  );
  const taken = new Set<string>();
  return [
    `  <testsuite${attributesXml(attributes)}>`,
    properties.length > 0
      ? `    <properties>\n${properties.join("\n")}\n    </properties>`
      : "    <properties/>",
    ...cases.map((one) => caseXml(one, suite.name, unique(name(one.name), taken))),
    `    <system-out>${xmlText(suite.output)}</system-out>`,
    "    <system-err/>",
    "  </testsuite>",
  ].join("\n");
}

function caseXml({ seconds: time, verdict }: JunitCase, suite: string, caseName: string): string {
  const open = `    <testcase${attributesXml({ classname: name(suite), name: caseName, time: seconds(time) })}`;
  if (verdict.kind === "passed") return `${open}/>`;
  const inner =
    verdict.kind === "skipped"
      ? `<skipped>${xmlText(verdict.reason)}</skipped>`
      : `<${verdict.kind}${attributesXml({ type: verdict.type, message: verdict.message })}>${xmlText(verdict.text)}</${verdict.kind}>`;
  return `${open}>\n      ${inner}\n    </testcase>`;
}

function attributesXml(attributes: Readonly<Record<string, string>>): string {
  return Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${xmlAttribute(value)}"`)
    .join("");
}

/** One line, never empty: some readers fail where a name is missing. */
function name(text: string): string {
  return text.replace(/\s+/g, " ").trim() || "unnamed";
}

function unique(text: string, taken: Set<string>): string {
  let found = text;
  for (let n = 2; taken.has(found); n++) found = `${text} (${n})`;
  taken.add(found);
  return found;
}

function seconds(value: number): string {
  return value.toFixed(3);
}
