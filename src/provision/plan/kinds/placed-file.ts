/** A file as it should be against the file that is there: used by every kind that keeps something in a file. */
import { createHash } from "node:crypto";
import type { Probe } from "../../bundle/probe.ts";
import { isUnknown, type Reading } from "../../bundle/reading.ts";
import type { Validator } from "../../resource.ts";
import type { Ownership, Step } from "../step.ts";
import { unifiedDiff } from "../unified-diff.ts";

export interface WantedFile extends Ownership {
  readonly path: string;
  readonly content: string;
  readonly secret?: boolean;
  readonly validator?: Validator;
}

export interface FileVerdict {
  readonly lines: readonly string[];
  readonly diff?: string;
  readonly steps: readonly Step[];
  readonly missing: boolean;
  readonly unknown?: string;
}

/** Sums by text: the same text goes to many hosts, and each is asked for it twice. */
const sums = new Map<string, string>();
const mostSums = 20_000;

export function sha256(text: string): string {
  const known = sums.get(text);
  if (known !== undefined) return known;
  const sum = createHash("sha256").update(text).digest("hex");
  if (sums.size >= mostSums) sums.clear();
  sums.set(text, sum);
  return sum;
}

/** A plain file of root's. */
export function rootFile(path: string, content: string): WantedFile {
  return { path, content, owner: "root", group: "root", mode: 0o644 };
}

export function fileProbe({ path, content, secret }: WantedFile): Probe {
  return { kind: "path", path, wanted: secret ? "secret" : sha256(content) };
}

export function compareFile(wanted: WantedFile, reading: Reading): FileVerdict {
  const { path, content, owner, group, mode, validator, secret } = wanted;
  const place: Step = { do: "place", path, content, owner, group, mode, ...(validator && { validator }) };
  const found = reading.path(path);
  if (isUnknown(found)) return { lines: [], steps: [], missing: false, unknown: found.unknown };
  const shown = () => (secret ? "" : unifiedDiff("", content, path));
  if (found === "absent")
    return {
      lines: [secret ? `new, secret, ${digestOf(content)}` : "new"],
      diff: shown(),
      steps: [place],
      missing: true,
    };
  if (found.type === "directory")
    return { lines: [], steps: [], missing: false, unknown: `${path} is a directory` };
  if (found.type !== "file")
    return { lines: [`a ${found.type} stands there`], diff: shown(), steps: [place], missing: false };
  const sum = reading.sum(path);
  if (isUnknown(sum)) return { lines: [], steps: [], missing: false, unknown: sum.unknown };
  const lines = ownershipChanges(found, wanted);
  let diff: string | undefined;
  if (sum !== sha256(content)) {
    const before = secret ? undefined : reading.content(path);
    if (before !== undefined) diff = unifiedDiff(before, content, path);
    else lines.push(`content ${sum.slice(0, 12)} → ${digestOf(content)}`);
  }
  const changed = lines.length > 0 || diff !== undefined;
  return { lines, ...(diff !== undefined && { diff }), steps: changed ? [place] : [], missing: false };
}

export function ownershipChanges(found: Ownership, wanted: Ownership): string[] {
  const lines: string[] = [];
  if (found.mode !== wanted.mode) lines.push(`mode ${octal(found.mode)} → ${octal(wanted.mode)}`);
  if (found.owner !== wanted.owner) lines.push(`owner ${found.owner} → ${wanted.owner}`);
  if (found.group !== wanted.group) lines.push(`group ${found.group} → ${wanted.group}`);
  return lines;
}

export function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

function digestOf(content: string): string {
  return sha256(content).slice(0, 12);
}
