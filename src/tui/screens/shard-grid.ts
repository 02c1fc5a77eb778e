/** All shards of an execution at a glance: a cell a shard, or the worst of several. */
import type { ShardLook } from "../../store/ui/execution-look.ts";
import { type Line, line, type Span, span, type Tone } from "../text/line.ts";

const cells: Record<
  ShardLook["status"],
  { readonly sign: string; readonly tone: Tone; readonly rank: number }
> = {
  failed: { sign: "✗", tone: "bad", rank: 5 },
  interrupted: { sign: "◌", tone: "warn", rank: 4 },
  running: { sign: "▸", tone: "busy", rank: 3 },
  pending: { sign: "○", tone: "plain", rank: 2 },
  cancelled: { sign: "⊘", tone: "warn", rank: 1 },
  success: { sign: "■", tone: "good", rank: 0 },
};

/** Lines that the grid takes, at most `most`. */
export function gridHeight(shards: number, width: number, most: number): number {
  return Math.max(1, Math.min(most, Math.ceil(shards / Math.max(1, width))));
}

export function gridLines(shards: readonly ShardLook[], width: number, height: number): Line[] {
  const perCell = Math.max(1, Math.ceil(shards.length / (width * height)));
  const worst: ShardLook["status"][] = [];
  for (let i = 0; i < shards.length; i += perCell) {
    let status = shards[i]!.status;
    for (let k = i + 1; k < Math.min(shards.length, i + perCell); k++)
      if (cells[shards[k]!.status].rank > cells[status].rank) status = shards[k]!.status;
    worst.push(status);
  }
  return Array.from({ length: height }, (_, y) => {
    const spans: Span[] = [];
    for (const status of worst.slice(y * width, (y + 1) * width)) {
      const { sign, tone } = cells[status];
      const last = spans.at(-1);
      if (last?.tone === tone) spans[spans.length - 1] = span(last.text + sign, tone);
      else spans.push(span(sign, tone));
    }
    if (y === height - 1 && perCell > 1)
      spans.push(span(`  a cell is ${perCell} shards, the worst shows`, "muted"));
    return line(...spans);
  });
}
