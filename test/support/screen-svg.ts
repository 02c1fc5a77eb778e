/** What a terminal shows, as an SVG picture. */
import type { IBufferCell, Terminal } from "@xterm/headless";

/** The 16 colours of the theme that pictures are drawn with. */
const theme = [
  "#1b2028",
  "#f7768e",
  "#9ece6a",
  "#e0af68",
  "#7aa2f7",
  "#bb9af7",
  "#5fc9c9",
  "#c8d0e0",
  "#5b6478",
  "#f7768e",
  "#9ece6a",
  "#e0af68",
  "#7aa2f7",
  "#bb9af7",
  "#7dcfff",
  "#ffffff",
];
const background = "#11151c";
const foreground = "#c8d0e0";
const cell = { width: 8.4, height: 18 };

interface Run {
  text: string;
  readonly x: number;
  readonly style: string;
  readonly fill: string | undefined;
  width: number;
}

export function screenSvg(terminal: Terminal, title: string): string {
  const { cols, rows } = terminal;
  const width = Math.ceil(cols * cell.width + 24);
  const height = Math.ceil(rows * cell.height + 24);
  const parts: string[] = [];
  for (let y = 0; y < rows; y++) {
    for (const run of runsOf(terminal, y)) {
      const left = 12 + run.x * cell.width;
      const top = 12 + y * cell.height;
      if (run.fill)
        parts.push(
          `<rect x="${left.toFixed(1)}" y="${top}" width="${(run.width * cell.width).toFixed(1)}" height="${cell.height}" fill="${run.fill}"/>`,
        );
      const drawn = shapeOf(run, left, top);
      if (drawn !== undefined) parts.push(drawn);
      else if (run.text.trim() !== "") parts.push(textOf(run, left, top));
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" rx="8" fill="${background}"/>
<g font-family="'DejaVu Sans Mono','JetBrains Mono',Menlo,Consolas,monospace" font-size="14" xml:space="preserve">
${parts.join("\n")}
</g>
</svg>
`;
}

/** Blanks at both ends are left out, and those between are kept: XML would fold them. */
function textOf(run: Run, left: number, top: number): string {
  const lead = run.text.length - run.text.trimStart().length;
  const text = run.text.trim();
  const x = left + lead * cell.width;
  const length = (run.width - (run.text.length - text.length)) * cell.width;
  return `<text x="${x.toFixed(1)}" y="${(top + 13.5).toFixed(1)}" textLength="${length.toFixed(1)}" lengthAdjust="spacingAndGlyphs" ${run.style}>${escapeXml(text).replaceAll(" ", "\u00a0")}</text>`;
}

const eighths = "▁▂▃▄▅▆▇█";
const corners: Record<string, string> = {
  "╭": "M4.2 18V13A4 4 0 0 1 8.4 9",
  "╮": "M0 9A4 4 0 0 1 4.2 13V18",
  "╰": "M4.2 0V5A4 4 0 0 0 8.4 9",
  "╯": "M0 9A4 4 0 0 0 4.2 5V0",
};

/** Blocks and lines are drawn, not written: fonts leave gaps between them. Undefined for text. */
function shapeOf(run: Run, left: number, top: number): string | undefined {
  const chars = [...run.text];
  if (!chars.every((char) => eighths.includes(char) || char === "─" || char === "│" || char in corners))
    return undefined;
  const shapes = chars.map((char, i) => {
    const x = left + i * cell.width;
    const level = eighths.indexOf(char) + 1;
    if (level > 0) {
      const high = (cell.height * level) / 8;
      return `<rect x="${x.toFixed(1)}" y="${(top + cell.height - high).toFixed(2)}" width="${cell.width - 0.9}" height="${high.toFixed(2)}" ${run.style}/>`;
    }
    if (char === "─")
      return `<rect x="${x.toFixed(1)}" y="${top + 8.5}" width="${cell.width + 0.2}" height="1" ${run.style}/>`;
    if (char === "│")
      return `<rect x="${(x + 3.7).toFixed(1)}" y="${top}" width="1" height="${cell.height}" ${run.style}/>`;
    return `<path transform="translate(${x.toFixed(1)} ${top})" d="${corners[char]}" fill="none" ${run.style.replace("fill=", "stroke=")}/>`;
  });
  return shapes.join("");
}

/** What is drawn and what is written are runs of their own, and so is each side of a wide gap. */
function kindOf(text: string): string {
  return eighths.includes(text) ? "block" : "─│╭╮╰╯".includes(text) ? "line" : "text";
}

function runsOf(terminal: Terminal, y: number): Run[] {
  const { active } = terminal.buffer;
  const row = active.getLine(active.viewportY + y);
  const runs: Run[] = [];
  let open: string | undefined;
  for (let x = 0; row && x < terminal.cols; x++) {
    const one = row.getCell(x);
    if (!one || one.getWidth() === 0) continue;
    const { style, fill } = lookOf(one);
    const last = runs.at(-1);
    const text = one.getChars() || " ";
    const kind = kindOf(text);
    const gap = text === " " && fill === undefined;
    if (gap) {
      open = undefined;
      continue;
    }
    if (last && open === kind && last.style === style && last.fill === fill) {
      last.text += text;
      last.width += one.getWidth();
    } else runs.push({ text, x, style, fill, width: one.getWidth() });
    open = kind;
  }
  return runs;
}

function lookOf(one: IBufferCell): { style: string; fill: string | undefined } {
  let front = one.isFgDefault() ? foreground : colourOf(one.getFgColor(), one.isFgRGB());
  let back = one.isBgDefault() ? undefined : colourOf(one.getBgColor(), one.isBgRGB());
  if (one.isInverse()) [front, back] = [back ?? background, front];
  const weight = one.isBold() ? ' font-weight="bold"' : "";
  const dim = one.isDim() ? ' opacity="0.6"' : "";
  return { style: `fill="${front}"${weight}${dim}`, fill: back };
}

/** The 6 × 6 × 6 cube and the greys of 256 colours. */
function colourOf(index: number, isRgb: boolean): string {
  if (isRgb) return `#${index.toString(16).padStart(6, "0")}`;
  if (index < 16) return theme[index]!;
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  if (index >= 232) return `#${hex(8 + (index - 232) * 10).repeat(3)}`;
  const level = (value: number) => hex(value === 0 ? 0 : 55 + value * 40);
  const at = index - 16;
  return `#${level(Math.floor(at / 36))}${level(Math.floor(at / 6) % 6)}${level(at % 6)}`;
}

function escapeXml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
