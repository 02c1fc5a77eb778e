/** Pieces of HTML, safe for any text. */

/** Text for content and attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** A table of text. @param numeric columns that are aligned to the right @param hasTotal the last row is the sum */
export function htmlTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly number[] = [],
  hasTotal = false,
): string {
  const cell = (tag: "th" | "td", text: string, i: number) =>
    `<${tag}${numeric.includes(i) ? ' class="number"' : ""}>${escapeHtml(text)}</${tag}>`;
  const head = `<tr>${header.map((text, i) => cell("th", text, i)).join("")}</tr>`;
  const body = rows
    .map((row, r) => {
      const isTotal = hasTotal && r === rows.length - 1;
      return `<tr${isTotal ? ' class="total"' : ""}>${row.map((text, i) => cell("td", text, i)).join("")}</tr>`;
    })
    .join("\n");
  return `<div class="scroll"><table><thead>${head}</thead><tbody>\n${body}\n</tbody></table></div>`;
}

/** A page of its own: no script, nothing loaded from elsewhere. @param more rules of style beyond those of every page */
export function htmlPage(title: string, body: string, more = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeHtml(title)}</title>
<style>${style}${more}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

const style = `
:root { --ink: #1c2733; --soft: #5a6573; --line: #d5dce5; --accent: #1f4e9c; --paper: #ffffff; --shade: #f3f6fa; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem 4rem; color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; }
h1 { font-size: 1.8rem; margin: 0 0 .25rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; }
p { margin: .3rem 0 .8rem; max-width: 60rem; }
.soft { color: var(--soft); }
.scroll { overflow-x: auto; }
.scroll table { min-width: 46rem; }
td:last-child { min-width: 10rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; font-size: .92rem; }
th { text-align: left; background: var(--shade); border-bottom: 2px solid var(--line); padding: .35rem .6rem; vertical-align: bottom; }
td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.total td { font-weight: 700; border-top: 2px solid var(--line); }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0; }
.card { flex: 1 1 10rem; border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; background: var(--shade); }
.card b { display: block; font-size: 1.4rem; color: var(--accent); }
figure { margin: 1rem 0 1.5rem; }
figcaption { color: var(--soft); font-size: .88rem; margin-top: .25rem; }
svg { width: 100%; max-width: 60rem; height: auto; font: 12px system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; }
ul { padding-left: 1.2rem; }
@page { size: A4; margin: 14mm; }
@media print { html { font-size: 10.5px; } body { max-width: none; padding: 0; font-size: 1rem; } h2, h3 { break-after: avoid; } tr, figure, .cards { break-inside: avoid; } .scroll { overflow: visible; } .scroll table, td:last-child { min-width: 0; } }
`;
