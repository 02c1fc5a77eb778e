/**
 * The one line that a login shell is handed. sshd gives a command to the
 * user's login shell, whichever that is (sh, bash, csh, fish), so the line holds
 * nothing that any of them reads in its own way: whatever is not plain is
 * written in octal and put together by a POSIX sh.
 */
import { EscapementError } from "../base/errors.ts";

/** Quotes one word for a POSIX shell. @throws E_BUG for a NUL character, which no argument can hold */
export function quoteWord(word: string): string {
  if (word.includes("\0")) throw new EscapementError("E_BUG", { what: "an argument with a NUL character" });
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/** The words of a forced command, as they are. @throws E_BUG for a word that a shell could read in its own way */
export function forcedWords(words: readonly string[]): string {
  const odd = words.find((word) => !/^[\w@=:,./+-]+$/.test(word));
  if (odd !== undefined)
    throw new EscapementError("E_BUG", { what: `a word for a forced command that is not plain: ${odd}` });
  return words.join(" ");
}

/** A line that runs `script` with sh, whichever shell reads the line. */
export function loginShellLine(script: string): string {
  // The script must not end in a newline: command substitution would drop it.
  return `exec sh -c 'eval "$(printf %b "${inOctal(script)}")"'`;
}

/** Plain characters as they are, every other byte as printf's %b reads it back. */
function inOctal(text: string): string {
  let line = "";
  for (const byte of Buffer.from(text, "utf8")) {
    const char = String.fromCharCode(byte);
    line += /[\w@%+=:,./ -]/.test(char) ? char : `\\0${byte.toString(8).padStart(3, "0")}`;
  }
  return line;
}

/** Texts by which the two ends of one command know each other's words from noise. */
export interface Marks {
  /** Written to both streams by the host as the last thing before the command itself. */
  readonly start: string;
  /** What sudo says when it wants the password. */
  readonly prompt: string;
}

export interface ScriptOptions {
  readonly argv: readonly string[];
  readonly marks: Marks;
  readonly asRoot: boolean;
  /** Sudo may ask, since there is something to answer. */
  readonly sudoMayAsk: boolean;
  /** The host itself ends the command after this long, also when nobody is there any more to ask for it. */
  readonly deadlineMs: number;
}

/**
 * What runs on the host: become root where asked, write the marks, run the
 * command under a time limit. `timeout` ends it in a process group of its own,
 * and needs no connection for it.
 */
export function hostScript({ argv, marks, asRoot, sudoMayAsk, deadlineMs }: ScriptOptions): string {
  const seconds = Math.max(1, Math.ceil(deadlineMs / 1000));
  const command = quoteWords(argv);
  const run = [
    `printf %s ${quoteWord(marks.start)}`,
    `printf %s ${quoteWord(marks.start)} >&2`,
    `if command -v timeout >/dev/null 2>&1; then exec timeout -k 2 ${seconds} ${command}; else exec ${command}; fi`,
  ].join("; ");
  if (!asRoot) return run;
  const sudo = sudoMayAsk ? `sudo -S -p ${quoteWord(marks.prompt)}` : "sudo -n";
  return `if [ "$(id -u)" = 0 ]; then ${run}; else exec ${sudo} -- sh -c ${quoteWord(run)}; fi`;
}
