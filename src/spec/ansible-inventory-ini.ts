/** An Ansible inventory in INI: hosts with variables on their line, `[group]`, `[group:vars]`, `[group:children]`. */
import { expandHostPattern, splitPort } from "./ansible-host-range.ts";
import { AnsibleModel, type AnsibleVariables } from "./ansible-inventory-model.ts";
import type { Position } from "./problem.ts";

type Section = { readonly group: string; readonly kind: "hosts" | "vars" | "children" };

/** Never throws. */
export function parseAnsibleIni(text: string, file: string): AnsibleModel {
  const model = new AnsibleModel();
  let section: Section = { group: "ungrouped", kind: "hosts" };
  model.group("ungrouped").defined = true;
  for (const [i, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const at: Position = { file, line: i + 1, column: raw.length - raw.trimStart().length + 1 };
    const head = /^\[([^:\]]+)(?::(\w+))?\]\s*(?:[#;].*)?$/.exec(line);
    if (head) {
      const kind = head[2] ?? "hosts";
      const group = head[1]!.trim();
      if (kind !== "hosts" && kind !== "vars" && kind !== "children") {
        model.complain(
          at,
          `[${group}:${kind}] is not a section; write [${group}], [${group}:vars] or [${group}:children]`,
        );
        continue;
      }
      section = { group, kind };
      model.group(group).defined = true;
    } else if (section.kind === "hosts") readHost(line, raw, section.group, at, model);
    else if (section.kind === "children") readChild(line, section.group, at, model);
    else readVariable(line, section.group, at, model);
  }
  return model;
}

function readHost(line: string, raw: string, groupName: string, at: Position, model: AnsibleModel): void {
  const words = splitWords(line);
  if (typeof words === "string") {
    model.complain(at, words);
    return;
  }
  const [pattern = "", ...assignments] = words;
  const variables: AnsibleVariables = new Map();
  for (const word of assignments) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      model.complain(at, `${JSON.stringify(word).slice(0, 80)} is not name=value`);
      return;
    }
    const name = word.slice(0, equals);
    const column = raw.indexOf(`${name}=`) + 1 || at.column;
    variables.set(name, { ...at, column, value: literal(word.slice(equals + 1)) });
  }
  const { host, port } = splitPort(pattern);
  // An IPv6 address in brackets has lost them; every other bracket is a range.
  const names = host === pattern || !pattern.startsWith("[") ? expandHostPattern(host) : [host];
  if (typeof names === "string") {
    model.complain(at, names);
    return;
  }
  if (port !== undefined && !variables.has("ansible_port"))
    variables.set("ansible_port", { ...at, value: port });
  for (const name of names) model.addHost(name, model.group(groupName), at, variables);
}

function readChild(line: string, groupName: string, at: Position, model: AnsibleModel): void {
  const child = line.replace(/\s+[#;].*$/, "");
  model.group(groupName).children.set(child, at);
  model.group(child);
}

function readVariable(line: string, groupName: string, at: Position, model: AnsibleModel): void {
  const match = /^([^=\s]+)\s*=\s*(.*)$/.exec(line);
  if (!match) {
    model.complain(at, `${JSON.stringify(line).slice(0, 80)} is not name=value`);
    return;
  }
  model.group(groupName).variables.set(match[1]!, { ...at, value: literal(match[2]!) });
}

/** Splits as a shell would: quotes hold words together, a # in front of a word begins a comment. */
function splitWords(line: string): readonly string[] | string {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    if (quote !== "") {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"' && /["\\]/.test(line[i + 1] ?? "")) word += line[++i]!;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === "#" && word === undefined) break;
    else if (char === "\\" && i + 1 < line.length) word = (word ?? "") + line[++i]!;
    else word = (word ?? "") + char;
  }
  if (quote !== "") return `a quote ${quote} is not closed`;
  if (word !== undefined) words.push(word);
  return words;
}

/** Numbers, True, False and lists of plain values as Python reads them; everything else is text. */
function literal(text: string): unknown {
  const value = text.trim();
  if (/^-?(0|[1-9]\d{0,14})$/.test(value)) return Number(value);
  if (/^-?\d+\.\d+$/.test(value)) return Number(value);
  if (value === "True") return true;
  if (value === "False") return false;
  const quoted = /^(["'])(.*)\1$/s.exec(value);
  if (quoted && !quoted[2]!.includes(quoted[1]!)) return quoted[2];
  if (value.startsWith("[") && value.endsWith("]")) {
    const inner = value.slice(1, -1).trim();
    return inner === "" ? [] : inner.split(",").map((part) => literal(part));
  }
  return value;
}
