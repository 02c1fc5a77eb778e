/** The picture of all items: one tile each, with sign and word, so that it can be read without colours. */
import type { ChecklistReport, ReportItem } from "../../checklist/report-schema.ts";
import type { ItemVerdict } from "../../checklist/verdict.ts";
import { escapeHtml } from "../html.ts";
import { verdictWord } from "./wording.ts";

const columns = 5;
const width = 184;
const height = 74;
const gap = 8;

const looks: Readonly<
  Record<ItemVerdict, { readonly fill: string; readonly ink: string; readonly sign: string }>
> = {
  pass: { fill: "#dff1e3", ink: "#1d5c2d", sign: "✓" },
  fail: { fill: "#f9dedc", ink: "#8c1d18", sign: "✗" },
  unknown: { fill: "#fdedc8", ink: "#6b4700", sign: "?" },
  waived: { fill: "#e6e1f7", ink: "#42357a", sign: "‖" },
  "not-applicable": { fill: "#eceff3", ink: "#465060", sign: "–" },
};

export function verdictTiles({ items }: ChecklistReport): string {
  const rows = Math.max(1, Math.ceil(items.length / columns));
  const box = `0 0 ${columns * (width + gap) - gap} ${rows * (height + gap) - gap}`;
  const summary = items.map(({ number, verdict }) => `${number} ${verdictWord[verdict]}`).join(", ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" role="img" aria-label="${escapeHtml(summary)}">${items.map(tile).join("")}</svg>`;
}

function tile({ number, id, question, verdict }: ReportItem, index: number): string {
  const x = (index % columns) * (width + gap);
  const y = Math.floor(index / columns) * (height + gap);
  const { fill, ink, sign } = looks[verdict];
  return `<a class="tile" href="#item-${number}"><title>${escapeHtml(question)}</title><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${fill}" stroke="${ink}" stroke-opacity="0.4"/><text x="${x + 12}" y="${y + 28}" font-size="18" font-weight="700" fill="${ink}">${number}</text><text x="${x + width - 12}" y="${y + 28}" font-size="20" font-weight="700" text-anchor="end" fill="${ink}">${sign}</text><text x="${x + 12}" y="${y + 48}" font-size="12.5" fill="#1c2733">${escapeHtml(short(id))}</text><text x="${x + 12}" y="${y + 64}" font-size="11.5" fill="${ink}">${verdictWord[verdict]}</text></a>`;
}

function short(id: string): string {
  return id.length > 25 ? `${id.slice(0, 24)}…` : id;
}
