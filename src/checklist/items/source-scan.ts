/**
 * Reads the code of a job for writes that are not the same when they are done
 * twice: an UPDATE that adds up, an INSERT that takes a second row, a message or
 * a call without a key. It reads text, not programs: what it finds is there; what
 * it does not find may still be, and a rehearsal shows that.
 */
export interface Finding {
  readonly kind: "accumulating-update" | "plain-insert" | "message-without-key" | "call-without-key";
  readonly line: number;
  /** The words that were found, cut. */
  readonly text: string;
  readonly table?: string;
}

/** Names that tell two attempts of the same act apart from two acts. */
const keyWords =
  /idempotency[-_]?key|idempotencyKey|ESCAPEMENT_IDEMPOTENCY_KEY|dedup|message[-_]?id|messageId|externalCall|external_call|call_begin|call_confirm/i;
/** The guard's claim: whatever follows in its transaction is done once. */
const claims =
  /escapement_guard\.(claim|enter_once|once)\b|\bguard\.claim\b|\.claim\(|\bescapement\s+guard\s+claim\b/;
/** How far from a call its key may stand: the options of the call, and the lines that prepare them. */
const nearby = 700;

export interface ScanOptions {
  readonly path: string;
  readonly text: string;
  /** Declared targets of the job's table effects; an INSERT into another table is not judged. */
  readonly targets: readonly string[];
}

export function scanSource({ path, text, targets }: ScanOptions): readonly Finding[] {
  const code = withoutComments(path, text);
  if (claims.test(code)) return calls(code);
  return [...updates(code), ...inserts(path, code, targets), ...calls(code)].sort((a, b) => a.line - b.line);
}

/** False of what shows nothing to a reader of text: empty, comments alone, or compiled. */
export function isText(path: string, text: string): boolean {
  return !text.includes("\u0000") && withoutComments(path, text).trim() !== "";
}

/** Any write at all, for a job that declares none: the words of the first one. */
export function firstWrite(path: string, text: string): Finding | undefined {
  const code = withoutComments(path, text);
  const match =
    /\b(?:INSERT\s+INTO|UPDATE\s+[\w."]+\s+SET|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE\s+\w|COPY\s+[\w."]+\s+FROM)\b/i.exec(
      code,
    );
  if (match) return finding("plain-insert", code, match.index, match[0]);
  return calls(code)[0];
}

/** Whether a message or a call is to be seen at all, or at least its key: else it is sent elsewhere. */
export function showsCall(path: string, text: string): boolean {
  const code = withoutComments(path, text);
  return [keyWords, claims, httpCall, messageCall].some((pattern) => code.search(pattern) >= 0);
}

function updates(code: string): Finding[] {
  const found: Finding[] = [];
  for (const match of code.matchAll(/\bUPDATE\b[^;`]{0,200}?\bSET\b([^;`]{0,2000})/gi)) {
    const assignments = match[1]!.split(/\bWHERE\b|\bFROM\b|\bRETURNING\b/i, 1)[0]!;
    const adding =
      /([\w"]+)\s*=\s*(?:coalesce\s*\(\s*)?(?:[\w"]+\.)?\1\s*(?:,[^)]*\))?\s*(?:[-+*/]|\|\|)|([\w"]+)\s*=\s*[^,=]*?[-+*]\s*(?:[\w"]+\.)?\2(?![\w"])/i.exec(
        assignments,
      );
    if (adding)
      found.push(
        finding("accumulating-update", code, match.index, `${match[0].slice(0, 60).trim()} … ${adding[0]}`),
      );
  }
  return found;
}

function inserts(path: string, code: string, targets: readonly string[]): Finding[] {
  const found: Finding[] = [];
  const end = path.endsWith(".sql") ? /;/ : /[;`]|"""|"\s*[,)]/;
  for (const match of code.matchAll(/\bINSERT\s+INTO\s+([\w."]+)/gi)) {
    const table = plain(match[1]!);
    if (!targets.some((target) => sameTable(target, table))) continue;
    const rest = code.slice(match.index, match.index + 4_000);
    const statement = rest.slice(0, rest.search(end) < 0 ? undefined : rest.search(end));
    if (/\bON\s+CONFLICT\b|\bON\s+DUPLICATE\s+KEY\b|\bNOT\s+EXISTS\b|\bEXCEPT\b/i.test(statement)) continue;
    if (isReplaced(code.slice(0, match.index), table)) continue;
    found.push({ ...finding("plain-insert", code, match.index, statement), table });
  }
  return found;
}

/** The same rows are deleted first, or the whole part is written anew and switched. */
function isReplaced(before: string, table: string): boolean {
  const name = table.slice(table.lastIndexOf(".") + 1);
  return (
    new RegExp(`\\b(DELETE\\s+FROM|TRUNCATE(\\s+TABLE)?)\\s+(ONLY\\s+)?([\\w"]+\\.)?"?${name}\\b`, "i").test(
      before,
    ) || /replaceWhole|replace_begin/.test(before)
  );
}

const httpCall =
  /\b(?:fetch|axios(?:\.\w+)?|got(?:\.\w+)?|requests\.\w+|urlopen|http\.request|https\.request|HttpRequest\.newBuilder|curl)\b[^\n]*/g;
const messageCall =
  /\b(?:publish|basicPublish|basic_publish|sendToQueue|convertAndSend|send_message|sendMessage|produce)\s*\(|\bproducer\.send\s*\(|\bkafka-console-producer\b|\brabbitmqadmin\s+publish\b/g;

function calls(code: string): Finding[] {
  const found: Finding[] = [];
  const writes =
    /method\s*[:=]\s*["'](?:POST|PATCH)|-X\s*(?:POST|PATCH)|--request\s+(?:POST|PATCH)|\s(?:-d|--data\S*)\s|(?:requests|axios|got)\.(?:post|patch)\b|\.POST\(|data\s*=/i;
  for (const match of code.matchAll(httpCall)) {
    const around = code.slice(match.index, match.index + nearby);
    if (!writes.test(around.slice(0, 400))) continue;
    if (keyWords.test(code.slice(Math.max(0, match.index - nearby), match.index + nearby))) continue;
    found.push(finding("call-without-key", code, match.index, match[0]));
  }
  for (const match of code.matchAll(messageCall)) {
    const around = code.slice(Math.max(0, match.index - nearby), match.index + nearby);
    if (keyWords.test(around) || /\bkey\s*[:=]/.test(around)) continue;
    found.push(finding("message-without-key", code, match.index, code.slice(match.index, match.index + 80)));
  }
  return found;
}

function finding(kind: Finding["kind"], code: string, index: number, text: string): Finding {
  return {
    kind,
    line: code.slice(0, index).split("\n").length,
    text: text.replace(/\s+/g, " ").trim().slice(0, 160),
  };
}

const languages: readonly [RegExp, RegExp][] = [
  [/\.sql$/, /--[^\n]*|\/\*[\s\S]*?\*\//g],
  [/\.(?:[cm]?[jt]s|java|kt|go|cs)$/, /(?<![:"'`\w])\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<=\s)--\s[^\n"'`]*/g],
  [/\.(?:py|sh|bash|rb|pl)$|^[^.]*$/, /(?<=^|\s)#[^\n]*|(?<=\s)--\s[^\n"'`]*/g],
];

/** Comments become blanks, so that lines keep their numbers. */
function withoutComments(path: string, text: string): string {
  const pattern = languages.find(([files]) => files.test(path))?.[1];
  return pattern ? text.replace(pattern, (comment) => comment.replace(/[^\n]/g, " ")) : text;
}

function plain(name: string): string {
  return name.replaceAll('"', "").toLowerCase();
}

/** `ledger.snapshot` is `snapshot` where the code leaves the schema or the database out. */
function sameTable(target: string, table: string): boolean {
  const last = (name: string) => name.slice(name.lastIndexOf(".") + 1);
  return last(plain(target)) === last(table);
}
