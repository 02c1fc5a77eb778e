/**
 * A report of the checklist as one page: the top for whoever decides about a
 * release, the details for whoever wants to come to the same verdict. Nothing
 * is loaded, no script runs; a reader without colours sees the words.
 */
import { formatDuration } from "../../base/duration.ts";
import { allItems } from "../../checklist/judge.ts";
import type { ChecklistReport, ReportItem, ReportResult } from "../../checklist/report-schema.ts";
import type { ItemVerdict } from "../../checklist/verdict.ts";
import { escapeHtml, htmlPage, htmlTable } from "../html.ts";
import { printable } from "../xml.ts";
import { verdictTiles } from "./tiles.ts";
import { inert, oneLine, visible } from "./visible.ts";
import {
  type Answer,
  answersOf,
  itemName,
  roundAge,
  scopeName,
  sentence,
  tally,
  verdictWord,
} from "./wording.ts";

/** Answers of one item that are written out; the rest is counted. What is open comes first. */
const mostAnswers = 200;
/** An item with more answers is folded, also when it is open: the page stays one that can be looked over. */
const unfolded = 12;

export function checklistHtml(report: ChecklistReport): string {
  const title = `Checklist of ${report.cluster.name || "the cluster"}`;
  const body = [
    `<header><h1>${escapeHtml(title)}</h1><p class="soft">${escapeHtml(report.at)} by the ${report.clock === "database" ? "database's" : "local"} clock, asked by ${escapeHtml(report.person)}</p></header>`,
    verdictBanner(report),
    cards(report),
    `<figure>${verdictTiles(report)}<figcaption>Each tile is one item; it leads to its evidence.</figcaption></figure>`,
    reasons(report),
    trend(report),
    waivers(report),
    definitions(report),
    "<h2>The items</h2>",
    ...report.items.map((item) => itemSection(item, report)),
    binding(report),
  ];
  const content = body.filter((part) => part !== "").join("\n");
  return inert(htmlPage(printable(title), printable(content), style));
}

const outcomeSentence = {
  pass: "Every item was asked and none is open.",
  fail: "At least one item fails. A release should wait.",
  unknown: "Nothing failed, but not everything could be looked at. That is no pass.",
} as const;

function verdictBanner({ outcome }: ChecklistReport): string {
  return `<p class="banner ${outcome}"><strong>${outcome}</strong> ${outcomeSentence[outcome]}</p>`;
}

function cards(report: ChecklistReport): string {
  const counts = tally(report);
  const card = (value: string, text: string) =>
    `<div class="card"><b>${escapeHtml(value)}</b>${escapeHtml(text)}</div>`;
  const notAsked = allItems.length - new Set(report.items.map(({ number }) => number)).size;
  const delta = report.trend;
  return `<div class="cards">${[
    card(`${counts.pass} of ${allItems.length}`, "items pass"),
    card(String(counts.fail), "fail"),
    card(String(counts.unknown), "unknown: could not look"),
    card(String(counts.waived), "waived for a time"),
    notAsked > 0 ? card(String(notAsked), "not asked") : "",
    delta ? card(`${delta.better} / ${delta.worse}`, "better / worse than last time") : "",
  ].join("")}</div>`;
}

function reasons({ reasons: found, outcome }: ChecklistReport): string {
  if (outcome === "pass" || found.length === 0) return "";
  const shown = found.slice(0, 30);
  const more = found.length > shown.length ? `<li>and ${found.length - shown.length} more</li>` : "";
  return `<h2>Why it is not a pass</h2><ul>${shown.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}${more}</ul>`;
}

function trend({ trend: found }: ChecklistReport): string {
  if (!found) return "";
  const { against, changes } = found;
  // What is new and done needs no line.
  const told = changes.filter(({ change, now }) => change !== "new" || !isDone(now));
  const rows = told
    .slice(0, mostAnswers)
    .map(({ item, scope, before, now, change }) => [
      String(item),
      scope === null ? "whole item" : `${scope.kind} ${scope.name}`,
      before === null ? (scope === null ? "not asked" : "not open") : verdictWord[before],
      verdictWord[now],
      change,
    ]);
  const commit = against.commit === null ? "" : `, commit ${against.commit.slice(0, 12)}`;
  const intro = `<p>Held against ${escapeHtml(against.from)} of ${escapeHtml(against.at)}${escapeHtml(commit)}.</p>`;
  const table =
    rows.length === 0
      ? "<p>Nothing needs more work than before.</p>"
      : htmlTable(["item", "about", "before", "now", "change"], rows, [0]);
  return `<h2>Since the last run</h2>${intro}${table}`;
}

function isDone(verdict: ItemVerdict): boolean {
  return verdict === "pass" || verdict === "not-applicable";
}

function waivers(report: ChecklistReport): string {
  const rows = report.items.flatMap((item) =>
    item.results.flatMap((result) => {
      const { waiver } = result;
      if (!waiver) return [];
      return [
        [
          itemName(item),
          scopeName(result),
          result.verdict,
          waiver.reason,
          waiver.owner,
          waiver.approver,
          waiver.expires,
        ],
      ];
    }),
  );
  const problems = report.waiverProblems.map(
    ({ message, file, line }) =>
      `<li>${escapeHtml(message)} <span class="soft">${escapeHtml(file)}:${line}</span></li>`,
  );
  if (rows.length + problems.length === 0) return "";
  const list =
    problems.length > 0 ? `<p>In error, so they fail the gate:</p><ul>${problems.join("")}</ul>` : "";
  const table =
    rows.length > 0
      ? htmlTable(["item", "about", "measured", "reason", "owner", "approver", "expires"], rows)
      : "";
  return `<h2>Waivers</h2>${list}${table}`;
}

function definitions({ definitionProblems }: ChecklistReport): string {
  if (definitionProblems.length === 0) return "";
  const items = definitionProblems.map(
    ({ message, file, line, column }) =>
      `<li><span class="soft">${escapeHtml(file)}:${line}:${column}</span> ${escapeHtml(message)}</li>`,
  );
  return `<h2>Job files with problems</h2><p>They became no job, so nobody can say what they would do.</p><ul>${items.join("")}</ul>`;
}

function itemSection(item: ReportItem, report: ChecklistReport): string {
  const answers = answersOf(item, report);
  const shown = answers.slice(0, mostAnswers);
  const left = answers.length - shown.length;
  const isOpen = (item.verdict === "fail" || item.verdict === "unknown") && answers.length <= unfolded;
  return `<section id="item-${item.number}">
<h3><span class="chip ${item.verdict}">${verdictWord[item.verdict]}</span> ${item.number}. ${escapeHtml(item.question)}</h3>
<p>${escapeHtml(item.why)}</p>
<p class="soft">How it is checked: ${escapeHtml(item.how)} It took ${escapeHtml(formatDuration(item.durationMs))}.</p>
<details${isOpen ? ' open="open"' : ""}><summary>${answers.length} answer${answers.length === 1 ? "" : "s"} (${escapeHtml(item.id)})</summary>
${shown.map(answerBlock).join("\n")}
${left > 0 ? `<p>${left} more answer(s) are in the JSON report; none of them is worse.</p>` : ""}
</details>
</section>`;
}

function answerBlock(answer: Answer): string {
  const { result, counts } = answer;
  const { file, line } = result.location;
  const todo =
    result.todo === undefined ? "" : `<p><strong>To do:</strong> ${escapeHtml(oneLine(result.todo))}</p>`;
  return `<div class="answer ${counts}">
<p><span class="chip ${counts}">${verdictWord[counts]}</span> <strong>${escapeHtml(scopeName(result))}</strong>: ${escapeHtml(sentence(answer))} <span class="soft">${escapeHtml(`${file}:${line}`)}</span></p>
${todo}${evidenceBlock(result)}
</div>`;
}

function evidenceBlock({ evidence }: ReportResult): string {
  if (evidence.length === 0) return `<p class="soft">No evidence: it could not look.</p>`;
  const blocks = evidence.map((one) => {
    const where = one.host === undefined ? "" : ` on ${one.host}`;
    const age = one.ageMs === undefined ? "" : `, ${formatDuration(roundAge(one.ageMs))} old`;
    return `<p class="soft">${escapeHtml(`${one.kind}${where} at ${one.at}${age}`)}</p><pre>${escapeHtml(visible(one.what).trim())}</pre><pre class="said">${escapeHtml(visible(one.output).trim())}</pre>`;
  });
  return `<details><summary>evidence (${evidence.length})</summary>${blocks.join("")}</details>`;
}

/** What the report is bound to: another cluster, commit or day is another report. */
function binding(report: ChecklistReport): string {
  const { cluster, commit, definitions, window, hosts, tool, signature, asked } = report;
  const clean =
    commit.clean === null ? "" : commit.clean ? " (files as committed)" : " (with changes on top)";
  const rows = [
    ["cluster", `${cluster.name} ${cluster.id ?? "(id unknown: the store could not be asked)"}`],
    ["commit", `${commit.id ?? "unknown"}${clean}`],
    ["definitions", `${definitions.digest}, ${definitions.jobs} job(s)`],
    ["executions looked at", `${window.from} to ${window.to}`],
    [
      "hosts",
      hosts.map(({ name, reached }) => (reached ? name : `${name} (not reached)`)).join(", ") || "none",
    ],
    ["tier", report.tier],
    ["asked", asked.items === null ? "all items" : `items ${asked.items.join(", ")}`],
    ["run", report.runId],
    ["tool", `escapement ${tool.version}`],
    [
      "signed",
      signature
        ? `with Ed25519 key ${signature.key.slice(0, 16)}… (the signature is of the JSON report)`
        : "no",
    ],
  ];
  return `<h2>What this report is about</h2>${htmlTable(["", ""], rows)}`;
}

const style = `
.banner { border-left: .5rem solid; padding: .6rem 1rem; background: var(--shade); max-width: none; font-size: 1.1rem; }
.banner strong { text-transform: uppercase; margin-right: .6rem; }
.banner.pass { border-color: #2b7a3d; } .banner.fail { border-color: #b3261e; } .banner.unknown { border-color: #9a6700; }
.chip { display: inline-block; padding: 0 .5rem; border-radius: .7rem; font-size: .8rem; font-weight: 700; color: #fff; white-space: nowrap; }
.chip.pass { background: #2b7a3d; } .chip.fail { background: #b3261e; } .chip.unknown { background: #8a5a00; }
.chip.waived { background: #5b4b9a; } .chip.not-applicable { background: #5a6573; }
.answer { border-left: 3px solid var(--line); padding: .1rem 0 .1rem .8rem; margin: .6rem 0; }
.answer.fail { border-color: #b3261e; } .answer.unknown { border-color: #8a5a00; } .answer.waived { border-color: #5b4b9a; }
.answer p { margin: .2rem 0; max-width: none; overflow-wrap: anywhere; }
section { margin-top: 1.6rem; } section h3 { margin-bottom: .2rem; }
summary { cursor: pointer; color: var(--accent); }
pre { background: var(--shade); padding: .5rem .7rem; margin: .2rem 0; overflow-x: auto; font-size: .82rem; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; }
pre.said { border-left: 3px solid var(--accent); }
figure svg { max-width: none; } a.tile { cursor: pointer; }
`;
