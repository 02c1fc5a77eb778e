/** What tones look like, on a terminal of the theme's own 16 colours. */
import { type Line, type Tone, textWidth } from "./line.ts";

export interface Look {
  /** False under NO_COLOR: weights and reverse video only. */
  readonly colour: boolean;
  /** For terminals that do not speak UTF-8. */
  readonly ascii: boolean;
  /** The store is down: all of it is old. */
  readonly stale?: boolean;
}

/** SGR parameters. */
const coloured: Record<Tone, string> = {
  plain: "",
  muted: "90",
  strong: "1",
  title: "1;36",
  key: "36",
  mark: "1;33",
  good: "32",
  warn: "33",
  bad: "1;31",
  busy: "36",
  trend: "34",
  // Both colours are named, so that it reads on light and on dark themes alike.
  selected: "48;5;24;38;5;231",
};

const uncoloured: Record<Tone, string> = {
  plain: "",
  muted: "2",
  strong: "1",
  title: "1",
  key: "1",
  mark: "1",
  good: "",
  warn: "1",
  bad: "1",
  busy: "",
  trend: "",
  selected: "7",
};

const asciiOf: Record<string, string> = {
  "╭": "+",
  "╮": "+",
  "╰": "+",
  "╯": "+",
  "─": "-",
  "│": "|",
  "├": "+",
  "┤": "+",
  "┴": "+",
  "┬": "+",
  "✓": "v",
  "✗": "x",
  "○": "o",
  "·": ".",
  "▸": ">",
  "⊘": "#",
  "…": "~",
  "●": "*",
  "↑": "^",
  "↓": "v",
  "→": ">",
  "▁": "_",
  "▂": "_",
  "▃": "-",
  "▄": "-",
  "▅": "=",
  "▆": "=",
  "▇": "#",
  "█": "#",
  "░": ".",
  "▌": "|",
  "×": "x",
  "⏎": "enter",
  "±": "+",
  "≈": "~",
  "≥": ">",
  "≤": "<",
  "−": "-",
  "▾": "v",
  "▴": "^",
  "◌": "o",
  "◆": "*",
  "■": "#",
};

/** One line as the terminal gets it: each run of a tone in its codes, all of them off at its end. */
export function toAnsi({ spans }: Line, look: Look): string {
  const codes = look.colour ? coloured : uncoloured;
  let text = "";
  for (const one of spans) {
    if (one.text === "") continue;
    const shown = look.ascii ? asciiText(one.text) : one.text;
    const code = look.stale && one.tone !== "selected" ? codes.muted : codes[one.tone];
    text += code === "" ? shown : `\x1b[${code}m${shown}\x1b[0m`;
  }
  return text;
}

function asciiText(text: string): string {
  // What takes two columns, or none, takes as many.
  return text.replace(/[^\x20-\x7e]/gu, (char) => asciiOf[char] ?? "?".repeat(textWidth(char)));
}

/** What this terminal can do, from its environment. */
export function lookOf(environment: NodeJS.ProcessEnv, noColourOption: boolean): Look {
  const locale = environment.LC_ALL || environment.LC_CTYPE || environment.LANG || "";
  return {
    colour: !noColourOption && !environment.NO_COLOR,
    // No locale at all is what services and containers have; their terminals mostly are UTF-8.
    ascii: locale !== "" && !/utf-?8/i.test(locale) && !/^(C|POSIX)$/.test(locale),
  };
}
