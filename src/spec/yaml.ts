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
  /** True when it has a problem; its value is then only good for telling which document it is. */
  readonly broken: boolean;
  /** The place of the value at `path`, or of its key; of the nearest map above where there is none. */
  positionOf(path: Path, what?: "key" | "value"): Position;
  /** The value at `path` as it is written, where it is a single word or number. */
  sourceOf(path: Path): string | undefined;
}

export interface YamlFile {
  readonly documents: readonly YamlDocument[];
  readonly problems: readonly Problem[];
}

export interface YamlReading {
  /** Tags whose values are taken as the plain text that stands there, for example `!vault`. Default: none. */
  readonly plainTags?: readonly string[];
}

/** Reads every document of a file. Never throws; a document with a problem does not hide the others. */
export function parseYaml(text: string, file: string, { plainTags = [] }: YamlReading = {}): YamlFile {
  const documents: YamlDocument[] = [];
  const problems: Problem[] = [];
  let again: Trees | undefined;
  const parseAgain = () => {
    again ??= parseTrees(text, file);
    return again;
  };
  try {
    const { trees, at } = parseTrees(text, file);
    for (const [i, tree] of trees.entries()) {
      if (tree.errors.length === 0 && isEmpty(tree)) continue;
      const error =
        tree.errors[0] ?? tree.warnings.find((warning) => !plainTags.includes(tagOf(warning) ?? ""));
      // One mistake makes many errors; only the first is worth reading.
      const found = error
        ? [{ ...at(error.pos[0]), path: "", message: explain(error, text) }]
        : inspect(tree, at);
      problems.push(...found);
      const start = at(tree.contents?.range[0] ?? 0);
      documents.push({ ...plainValue(tree, found.length > 0), ...placesIn(start, i, parseAgain) });
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

type Locate = (offset: number) => Position;

interface Trees {
  readonly trees: readonly Document.Parsed[];
  readonly at: Locate;
}

function parseTrees(text: string, file: string): Trees {
  const lines = new LineCounter();
  const trees = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: "core",
    merge: false,
    stringKeys: true,
    uniqueKeys: false, // checked below: linear, and names both places
    logLevel: "silent",
  });
  const at: Locate = (offset) => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  return { trees: [...trees], at };
}

/**
 * Places are asked for only when something is wrong. The trees are not kept
 * until then: thousands of them cost more in garbage collection than parsing
 * the few files with problems again, once each.
 */
function placesIn(
  start: Position,
  index: number,
  parseAgain: () => Trees,
): Pick<YamlDocument, "positionOf" | "sourceOf"> {
  return {
    positionOf(path, what = "value") {
      if (path.length === 0) return start;
      const { trees, at } = parseAgain();
      return at(find(trees[index]!, path)[what === "key" ? "keyOffset" : "offset"]);
    },
    sourceOf(path) {
      const { node } = find(parseAgain().trees[index]!, path);
      return isScalar(node) && node.type === "PLAIN" ? node.source : undefined;
    },
  };
}

function isEmpty({ contents }: Document.Parsed): boolean {
  return (
    contents === null || (isScalar(contents) && contents.source === "" && !contents.anchor && !contents.tag)
  );
}

/** Of a broken document, what it is, as far as it can be told. @throws when aliases multiply */
function plainValue(document: Document.Parsed, broken: boolean): Pick<YamlDocument, "value" | "broken"> {
  if (!broken) return { value: document.toJS({ maxAliasCount }), broken };
  const word = (...path: string[]) => {
    const found = find(document, path).node;
    return isScalar(found) ? found.value : undefined;
  };
  const metadata = { name: word("metadata", "name"), namespace: word("metadata", "namespace") };
  return { value: { kind: word("kind"), metadata }, broken };
}

const quoteIt = "put the value in quotes";

function explain(error: YAMLError, text: string): string {
  const first = text[error.pos[0]] ?? "";
  const line = text.slice(text.lastIndexOf("\n", error.pos[0] - 1) + 1).split("\n", 1)[0] ?? "";
  if (error.code === "TAB_AS_INDENT") return "a tab indents this line; YAML wants spaces";
  if (/:\s+\*/.test(line))
    return `a value that begins with * is read as an alias; ${quoteIt}, for example "*/5 * * * *"`;
  if (error.code === "BAD_SCALAR_START") return `a value cannot begin with ${first}; ${quoteIt}`;
  if (error.code === "NON_STRING_KEY") return "a key must be text";
  if (error.code === "TAG_RESOLVE_FAILED") return `unknown tag: ${tagOf(error)}`;
  return `not valid YAML: ${error.message}`;
}

function tagOf({ code, message }: YAMLError): string | undefined {
  return code === "TAG_RESOLVE_FAILED" ? message.replace(/^Unresolved tag: /, "") : undefined;
}

/** What the library accepts and a definition must not contain. */
function inspect(document: Document.Parsed, at: Locate): Problem[] {
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

interface Found {
  /** Undefined when nothing is there. */
  readonly node: unknown;
  /** Of the value, or of the nearest place above. */
  readonly offset: number;
  readonly keyOffset: number;
}

function find(document: Document.Parsed, path: Path): Found {
  const start = document.contents?.range[0] ?? 0;
  let found: Found = { node: document.contents, offset: start, keyOffset: start };
  for (const part of path) {
    const node = isAlias(found.node) ? found.node.resolve(document) : found.node;
    // A place that does not exist is told by the key of the map that should hold it.
    const nowhere: Found = { node: undefined, offset: found.keyOffset, keyOffset: found.keyOffset };
    if (isMap(node)) {
      const pairs = node.items as { key: ParsedNode; value: ParsedNode | null }[];
      const pair = pairs.find(({ key }) => isScalar(key) && key.value === String(part));
      if (!pair) return nowhere;
      const keyOffset = pair.key.range[0];
      const isEmptyValue = pair.value === null || (isScalar(pair.value) && pair.value.source === "");
      found = { node: pair.value, offset: isEmptyValue ? keyOffset : pair.value!.range[0], keyOffset };
    } else if (isSeq(node)) {
      const item = (node.items as ParsedNode[])[Number(part)];
      if (!item) return nowhere;
      found = { node: item, offset: item.range[0], keyOffset: item.range[0] };
    } else return nowhere;
  }
  return found;
}
