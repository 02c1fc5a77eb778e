/**
 * The only door to the YAML library: text in, plain values out, with the place
 * of every key and value. YAML 1.2 with the core schema, whatever a `%YAML`
 * line says: `on`, `off`, `yes` and `no` are text, keys are text, there are no
 * merge keys and no tags that run anything.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
  type YAMLError,
} from "yaml";
import { messageOf } from "../base/errors.ts";
import type { Path, Position, Problem } from "./problem.ts";

/** How often aliases may be followed in one document; more is an attack or an accident. */
const maxAliasCount = 100;

/** One document of a file, as plain JavaScript values. */
export interface YamlDocument {
  readonly value: unknown;
  /** The place of the value at `path`, or of its key; of the nearest map above where there is none. */
  positionOf(path: Path, what?: "key" | "value"): Position;
}

export interface YamlFile {
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly Problem[];
}

/** Reads every document of a file. Never throws; a document with a problem is left out, the others stay. */
export function parseYaml(text: string, file: string): YamlFile {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const documents: YamlDocument[] = [];
  const problems: Problem[] = [];
  try {
    const parsed = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      schema: "core",
      merge: false,
      stringKeys: true,
      uniqueKeys: false, // checked below: linear, and names both places
      logLevel: "silent",
    });
    for (const document of parsed) {
      const error = document.errors[0] ?? document.warnings[0];
      if (error) {
        // One mistake makes many errors; only the first is worth reading.
        problems.push({ ...at(error.pos[0]), path: "", message: explain(error, text) });
        continue;
      }
      if (document.contents === null || (isScalar(document.contents) && document.contents.source === ""))
        continue;
      const found = inspect(document, at);
      if (found.length > 0) problems.push(...found);
      else documents.push({ value: document.toJS({ maxAliasCount }), positionOf: locator(document, at) });
    }
  } catch (error) {
    problems.push({
      file,
      line: 1,
      column: 1,
      path: "",
      message: `cannot be read as YAML: ${messageOf(error)}`,
    });
  }
  return { documents, problems };
}

const quoteIt = "put the value in quotes";

function explain(error: YAMLError, text: string): string {
  const first = text[error.pos[0]] ?? "";
  const line = text.slice(text.lastIndexOf("\n", error.pos[0] - 1) + 1).split("\n", 1)[0] ?? "";
  if (error.code === "TAB_AS_INDENT") return "a tab indents this line; YAML wants spaces";
  if (/:\s+\*/.test(line))
    return `a value that begins with * is read as an alias; ${quoteIt}, for example "*/5 * * * *"`;
  if (error.code === "BAD_SCALAR_START") return `a value cannot begin with ${first}; ${quoteIt}`;
  if (error.code === "TAG_RESOLVE_FAILED")
    return `unknown tag: ${error.message.replace(/^Unresolved tag: /, "")}`;
  return `not valid YAML: ${error.message}`;
}

/** What the library accepts and a definition must not contain. */
function inspect(document: Document.Parsed, at: (offset: number) => Position): Problem[] {
  const problems: Problem[] = [];
  const anchors = new Set<string>();
  const add = (node: ParsedNode, message: string) =>
    problems.push({ ...at(node.range[0]), path: "", message });
  const walk = (node: ParsedNode | null): void => {
    if (isAlias(node)) {
      if (!anchors.has(node.source))
        add(
          node,
          `there is no anchor &${node.source} above; if *${node.source} is meant as text, ${quoteIt}`,
        );
      return;
    }
    if (isMap(node)) {
      const seen = new Map<unknown, ParsedNode>();
      for (const { key, value } of node.items as { key: ParsedNode; value: ParsedNode | null }[]) {
        const name = isScalar(key) ? key.value : undefined;
        const before = seen.get(name);
        if (before) {
          const first = at(before.range[0]);
          add(key, `key ${JSON.stringify(name)} is written twice, first on line ${first.line}`);
        } else seen.set(name, key);
        if (name === "<<") add(key, "merge keys are not supported; name a kind: PolicySet instead");
        walk(value);
      }
    } else if (isSeq(node)) for (const item of node.items as ParsedNode[]) walk(item);
    // After the content: an alias to a collection that contains it has no value.
    if ((isCollection(node) || isScalar(node)) && node.anchor) anchors.add(node.anchor);
  };
  walk(document.contents);
  return problems;
}

function locator(document: Document.Parsed, at: (offset: number) => Position): YamlDocument["positionOf"] {
  return (path, what = "value") => {
    let place = document.contents?.range[0] ?? 0;
    let node: unknown = document.contents;
    for (const [depth, part] of path.entries()) {
      if (isAlias(node)) node = node.resolve(document);
      const last = depth === path.length - 1;
      if (isMap(node)) {
        const pairs = node.items as { key: ParsedNode; value: ParsedNode | null }[];
        const pair = pairs.find(({ key }) => isScalar(key) && key.value === String(part));
        if (!pair) break;
        const empty = pair.value === null || (isScalar(pair.value) && pair.value.source === "");
        place = (last && what === "key") || !last || empty ? pair.key.range[0] : pair.value!.range[0];
        node = pair.value;
      } else if (isSeq(node)) {
        const item = (node.items as ParsedNode[])[Number(part)];
        if (!item) break;
        place = item.range[0];
        node = item;
      } else break;
    }
    return at(place);
  };
}
