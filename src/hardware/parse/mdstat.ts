/** /proc/mdstat: arrays of the kernel. The line "unused devices:" ends it. */
import { fromValue, type ListFact, listFact } from "../../base/fact.ts";
import type { MdArray } from "../host-facts.ts";
import { linesOf, mayBeCut, type Output } from "../output.ts";
import { parseCount } from "../quantity.ts";

export function parseMdstat(output: Output): ListFact<MdArray> {
  const lines = linesOf(output);
  const arrays: MdArray[] = [];
  for (const [i, line] of lines.entries()) {
    const head =
      /^(md\S+) : (?:active|inactive)\s*(?:\([^)]*\)\s*)*(?:(raid\d+|linear|multipath|faulty)\s+)?(.*)$/.exec(
        line,
      );
    if (!head) continue;
    const members = head[3]!.split(/\s+/).filter(Boolean);
    const counts = /\[(\d+)\/(\d+)\]/.exec(lines[i + 1] ?? "");
    arrays.push({
      name: head[1]!,
      level: fromValue(head[2], "mdstat shows no level: the array is not running"),
      devices: members.map((one) => one.replace(/\[.*$/, "")),
      failed: members.filter((one) => /\(F\)/.test(one)).map((one) => one.replace(/\[.*$/, "")),
      wanted: fromValue(parseCount(counts?.[1]), "mdstat shows no count of devices"),
      working: fromValue(parseCount(counts?.[2]), "mdstat shows no count of devices"),
    });
  }
  return listFact(arrays, output.isWhole || lines.some((line) => /^unused devices:/.test(line)), mayBeCut);
}
