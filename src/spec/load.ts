/** Reads definition files: paths in, checked documents and problems out. */
import { closest } from "./closest.ts";
import { apiVersionName } from "./envelope-schema.ts";
import { findFiles } from "./find-files.ts";
import { type DocumentOf, isKind, type Kind, type KindSchema, kindNames, kinds } from "./kinds.ts";
import { compareProblems, formatPosition, type Position, type Problem } from "./problem.ts";
import { readText } from "./read-text.ts";
import { parseDocument, showValue } from "./schema-problems.ts";
import { parseYaml, type YamlDocument } from "./yaml.ts";

/** How many files are open at once. */
const filesAtOnce = 64;

/** A document of one kind, and where it is. */
export interface LoadedDocument<K extends Kind = Kind> extends Position {
  readonly kind: K;
  /** `namespace/name`, or `name` alone in namespace default; undefined where it could not be read. */
  readonly id: string | undefined;
  /** Undefined when the document has problems of its own. */
  readonly value: DocumentOf<K> | undefined;
  readonly positionOf: YamlDocument["positionOf"];
}

export interface Loaded {
  /** How many files were read. */
  readonly files: number;
  readonly documents: readonly LoadedDocument[];
  /** Sorted by place. */
  readonly problems: readonly Problem[];
}

/**
 * Reads files and folders (every *.yaml and *.yml below them), several
 * documents a file. Never throws for what is in them: a document with a problem
 * does not hide the others.
 */
export async function loadFiles(paths: readonly string[]): Promise<Loaded> {
  const found = await findFiles(paths);
  const documents: LoadedDocument[] = [];
  const problems: Problem[] = [...found.problems];
  for (let i = 0; i < found.files.length; i += filesAtOnce) {
    const batch = found.files.slice(i, i + filesAtOnce);
    const texts = await Promise.all(batch.map(readText));
    for (const [j, read] of texts.entries()) {
      const loaded =
        "text" in read ? loadText(read.text, batch[j]!) : { documents: [], problems: [read.problem] };
      documents.push(...loaded.documents);
      problems.push(...loaded.problems);
    }
  }
  problems.push(...duplicates(documents));
  return { files: found.files.length, documents, problems: problems.sort(compareProblems) };
}

/** Reads the text of one file. @param file the name that problems carry */
export function loadText(text: string, file: string): Pick<Loaded, "documents" | "problems"> {
  const yaml = parseYaml(text, file);
  const problems = [...yaml.problems];
  const documents: LoadedDocument[] = [];
  for (const document of yaml.documents) {
    const loaded = loadDocument(document);
    if (loaded.document) documents.push(loaded.document);
    problems.push(...loaded.problems);
  }
  if (yaml.documents.length === 0 && problems.length === 0)
    problems.push({ file, line: 0, column: 0, path: "", message: "is empty: there is no document in it" });
  return { documents, problems };
}

/** The documents of one kind that are right. */
export function documentsOf<K extends Kind>(
  documents: readonly LoadedDocument[],
  kind: K,
): readonly (LoadedDocument<K> & { readonly value: DocumentOf<K> })[] {
  return documents.filter(
    (document): document is LoadedDocument<K> & { readonly value: DocumentOf<K> } =>
      document.kind === kind && document.value !== undefined,
  );
}

function loadDocument(document: YamlDocument): { document?: LoadedDocument; problems: readonly Problem[] } {
  const { value } = document;
  const at = document.positionOf([]);
  if (document.broken) return broken(document);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return {
      problems: [
        {
          ...at,
          path: "",
          message: "must be a map with apiVersion, kind, metadata and spec",
          value: showValue(value),
        },
      ],
    };
  const { kind } = value as { kind?: unknown };
  if (!isKind(kind)) return { problems: [wrongKind(document, kind)] };
  const schema: KindSchema = kinds[kind];
  const parsed = parseDocument(schema, document);
  const id = identity(parsed.value ?? value);
  return {
    document: {
      ...at,
      kind,
      id,
      value: parsed.value as DocumentOf<Kind> | undefined,
      positionOf: document.positionOf,
    },
    problems: parsed.problems,
  };
}

/** Its problems are told already; it stays known by name, so that what refers to it is not called wrong as well. */
function broken({ value, positionOf }: YamlDocument): {
  document?: LoadedDocument;
  problems: readonly Problem[];
} {
  const kind = (value as { kind?: unknown } | null | undefined)?.kind;
  if (!isKind(kind)) return { problems: [] };
  return {
    document: { ...positionOf([]), kind, id: identity(value as object), value: undefined, positionOf },
    problems: [],
  };
}

function wrongKind(document: YamlDocument, kind: unknown): Problem {
  if (kind === undefined)
    return {
      ...document.positionOf([]),
      path: "kind",
      message: `is missing; a document begins with apiVersion: ${apiVersionName} and its kind`,
      choices: kindNames,
    };
  const suggestion = closest(kind, kindNames);
  return {
    ...document.positionOf(["kind"]),
    path: "kind",
    message: "is not a kind of document",
    value: showValue(kind),
    choices: kindNames,
    ...(suggestion !== undefined && { suggestion }),
  };
}

/** The name as far as it can be told, also of a document with problems. */
function identity(value: object): string | undefined {
  const { metadata } = value as { metadata?: { name?: unknown; namespace?: unknown } | null };
  const { name, namespace = "default" } = metadata ?? {};
  if (typeof name !== "string" || typeof namespace !== "string") return undefined;
  return namespace === "default" ? name : `${namespace}/${name}`;
}

/** Two documents of one kind and name: the later one is the problem, and names the first. */
function duplicates(documents: readonly LoadedDocument[]): Problem[] {
  const first = new Map<string, LoadedDocument>();
  const problems: Problem[] = [];
  for (const document of documents) {
    if (document.id === undefined) continue;
    const key = `${document.kind} ${document.id}`;
    const before = first.get(key);
    if (before)
      problems.push({
        ...document.positionOf(["metadata", "name"]),
        path: "metadata.name",
        message: `${key} is already defined at ${formatPosition(before.positionOf(["metadata", "name"]))}`,
      });
    else first.set(key, document);
  }
  return problems;
}
