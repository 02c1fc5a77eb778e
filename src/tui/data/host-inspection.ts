/** What `facts` and `verify` found on the hosts of the inventory, read from their answers. */

export interface FoundOnHost {
  readonly severity: "critical" | "warning" | "info";
  readonly what: string;
  readonly action: string;
}

export interface HostInspection {
  readonly host: string;
  /** Why its facts could not be read, or null. */
  readonly factsProblem: string | null;
  /** Worst first. */
  readonly findings: readonly FoundOnHost[];
  /** Checks that could not be judged. */
  readonly unjudged: number;
  /** Whether it is what its profile says; null: nobody could tell, see the first deviation. */
  readonly drift: "yes" | "no" | "unknown" | null;
  readonly deviations: readonly { readonly answer: string; readonly what: string }[];
}

export interface Inspection {
  readonly hosts: readonly HostInspection[];
  /** It goes on: what is shown is from before. */
  readonly running: boolean;
  /** Why there is nothing, or only half of it. */
  readonly problem: string | null;
}

/** @param facts standard output of `facts --findings-only --json`. @param verify of `verify --json` */
export function inspectionOf(facts: string, verify: string): readonly HostInspection[] {
  const byHost = new Map<string, HostInspection>();
  const of = (host: string): HostInspection =>
    byHost.get(host) ?? { host, factsProblem: null, findings: [], unjudged: 0, drift: null, deviations: [] };
  for (const one of hostsOf(facts)) {
    const failed = one.status !== "ok";
    byHost.set(one.host, {
      ...of(one.host),
      factsProblem: failed ? text(one.message, "its facts could not be read") : null,
      findings: records(one.findings).map((found) => ({
        severity: severityOf(found.severity),
        what: `${text(found.id)}${found.subject === undefined ? "" : ` ${text(found.subject)}`}: ${text(found.reason)}`,
        action: text(found.action),
      })),
      unjudged: records(one.unjudged).length,
    });
  }
  for (const one of hostsOf(verify))
    byHost.set(one.host, {
      ...of(one.host),
      drift: one.answer === "yes" || one.answer === "no" ? one.answer : "unknown",
      deviations: records(one.deviations).map((deviation) => ({
        answer: text(deviation.answer),
        what: `${text(deviation.id)}: ${text(deviation.because)}`,
      })),
    });
  return [...byHost.values()].sort((a, b) => (a.host < b.host ? -1 : 1));
}

type Fields = Readonly<Record<string, unknown>>;

function hostsOf(document: string): (Fields & { readonly host: string })[] {
  try {
    const { hosts } = JSON.parse(document) as { hosts?: unknown };
    return records(hosts).filter((one): one is Fields & { host: string } => typeof one.host === "string");
  } catch {
    return [];
  }
}

function records(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];
}

function text(value: unknown, without = ""): string {
  return typeof value === "string" ? value : without;
}

function severityOf(value: unknown): FoundOnHost["severity"] {
  return value === "critical" || value === "info" ? value : "warning";
}
