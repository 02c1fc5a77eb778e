/** The few commands that a fake host knows by itself: enough to put a file there and to look at it. */
import { createHash } from "node:crypto";
import type { FakeAnswer, FakeHost } from "./fake-remote.ts";
import type { Dialogue, ExecRequest } from "./remote.ts";

/**
 * A dialogue with a command.
 * @param trip what a piece of input costs on its way
 * @returns all that the command wrote; undefined: it waits for input, and nobody says any more
 */
export async function talk(
  dialogue: Dialogue,
  { stdout = "", reply }: FakeAnswer,
  trip: () => Promise<void>,
): Promise<string | undefined> {
  let heard = stdout;
  const written: (string | null)[] = [dialogue("")];
  const tell = (piece: string) => {
    if (piece !== "" && !written.includes(null)) written.push(dialogue(piece));
  };
  tell(stdout);
  for (let next = written.shift(); reply && next !== null; next = written.shift()) {
    if (next === undefined) return undefined;
    if (next === "") continue;
    await trip();
    const piece = await reply(next);
    heard += piece;
    tell(piece);
  }
  return heard;
}

export function answerLikeAHost(request: ExecRequest, host: FakeHost): FakeAnswer {
  const { argv, stdin, asRoot, dialogue } = request;
  const [program, ...args] = argv;
  const input = typeof stdin === "string" ? stdin : new TextDecoder().decode(stdin);
  if (dialogue && program === "cat" && args.length === 0) return { reply: (text) => text };
  switch (program) {
    case "true":
      return {};
    case "false":
      return { exitCode: 1 };
    case "echo":
      return { stdout: `${args.join(" ")}\n` };
    case "printf":
      return { stdout: printf(args) };
    case "id":
      return { stdout: asRoot ? "0\n" : "1000\n" };
    case "sleep":
      return { takesMs: Number(args[0]) * 1000 };
    case "sh":
      return shell(args, input);
    case "cat":
    case "sha256sum":
    case "stat":
      return onFile(program, args, input, host);
    default:
      return { exitCode: 127, stderr: `sh: 1: exec: ${program}: not found\n` };
  }
}

/** `printf %s TEXT…` with a format of plain text, %s and \n. */
function printf([format = "", ...words]: string[]): string {
  const once = (word: string) => format.replace(/%s|\\n/g, (part) => (part === "%s" ? word : "\n"));
  return words.length === 0 ? once("") : words.map(once).join("");
}

/** `sh -c` with one of: exit N, kill -KILL $$, printf %s TEXT >&2. Without -c it reads and drops its input. */
function shell(args: string[], input: string): FakeAnswer {
  const script = args[0] === "-c" ? (args[1] ?? "") : input;
  const exit = /^exit (\d+)$/.exec(script.trim());
  if (exit) return { exitCode: Number(exit[1]) };
  if (/^kill -KILL \$\$$/.test(script)) return { exitCode: null, signal: "SIGKILL" };
  const text = /^printf %s (\w+); printf %s (\w+) >&2$/.exec(script);
  if (text) return { stdout: text[1]!, stderr: text[2]! };
  return { exitCode: 127, stderr: `sh: 1: this host is a fake and does not know: ${script.slice(0, 80)}\n` };
}

function onFile(program: string, args: string[], input: string, host: FakeHost): FakeAnswer {
  const path = args.findLast((word) => word.startsWith("/"));
  if (path === undefined) return program === "cat" ? { stdout: input } : { exitCode: 1 };
  const file = host.files.get(path);
  if (!file) return { exitCode: 1, stderr: `${program}: ${path}: No such file or directory\n` };
  if (program === "cat") return { stdout: new TextDecoder().decode(file.bytes) };
  if (program === "stat") return { stdout: `${file.mode.toString(8)}\n` };
  return { stdout: `${createHash("sha256").update(file.bytes).digest("hex")}  ${path}\n` };
}
