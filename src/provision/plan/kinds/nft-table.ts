/**
 * A table of ours in nftables. The kernel prints rules in its own words, so
 * what it listed right after we loaded the table is kept on the host, as a sum,
 * and what it lists now is held against that.
 */
import type { HostPaths, Probe } from "../../bundle/probe.ts";
import { isUnknown } from "../../bundle/reading.ts";
import type { NftTableResource } from "../../resource.ts";
import { cannotTell, type JudgeContext, type Judged } from "../judged.ts";
import type { Step } from "../step.ts";
import { compareFile, fileProbe, rootFile, type WantedFile } from "./placed-file.ts";
import { fromVerdict } from "./plain.ts";

const main = "/etc/nftables.conf";
const include = 'include "/etc/nftables.d/*.nft"';

function tableFile({ table, rules }: NftTableResource): WantedFile {
  // Declared, deleted and written anew in one load: it is replaced at once, whether it was there or not.
  const content = `table inet ${table}\ndelete table inet ${table}\n${rules.trimEnd()}\n`;
  return {
    ...rootFile(`/etc/nftables.d/escapement-${table}.nft`, content),
    validator: { name: "nft -c", argv: ["nft", "-c", "-f", "{file}"] },
  };
}

export function tableProbes(wanted: NftTableResource): Probe[] {
  return [
    fileProbe(tableFile(wanted)),
    { kind: "path", path: main, wanted: "always" },
    { kind: "nft-table", table: wanted.table },
  ];
}

export function judgeTable(wanted: NftTableResource, context: JudgeContext, paths: HostPaths): Judged {
  const { reading, drafts } = context;
  const file = tableFile(wanted);
  const verdict = fromVerdict(compareFile(file, reading));
  if (verdict.state === "unknown") return verdict;
  const table = reading.table(wanted.table);
  const installing = context.installing(wanted);
  if (isUnknown(table) && installing === undefined) return cannotTell(table);
  const seen = isUnknown(table) || table === "absent" ? undefined : table;
  const mainFile = reading.path(main);
  if (isUnknown(mainFile)) return cannotTell(mainFile);
  const mainText =
    drafts.get(main) ??
    (mainFile === "absent" ? "#!/usr/sbin/nft -f\nflush ruleset\n" : reading.content(main));
  if (mainText === undefined) return cannotTell(`${main} cannot be read`);
  const steps: Step[] = [...verdict.steps];
  const lines = [...verdict.lines];
  if (!mainText.split("\n").some((line) => line.trim() === include)) {
    const content = `${mainText.trimEnd()}\n${include}\n`;
    const { owner, group, mode } =
      mainFile === "absent" ? { owner: "root", group: "root", mode: 0o755 } : mainFile;
    steps.push({ do: "place", path: main, content, owner, group, mode });
    drafts.set(main, content);
    lines.push(`${main} includes it`);
  }
  const right = verdict.state === "ok" && seen !== undefined && seen.listed === seen.loaded;
  if (!right) {
    const path = paths.root + file.path;
    steps.push({ do: "load-table", table: wanted.table, file: path, existed: seen !== undefined });
    lines.push(
      seen === undefined ? "loaded" : verdict.state === "ok" ? "the running rules differ" : "loaded again",
    );
  }
  if (steps.length === 0) return verdict;
  return {
    state: verdict.state === "missing" ? "missing" : "diff",
    lines,
    ...(verdict.diff && { diff: verdict.diff }),
    steps,
    ...(installing !== undefined &&
      isUnknown(table) && { notPreviewable: `nft comes with package ${installing}` }),
  };
}
