/** The page: well-formed, alone, for a manager above and an auditor below. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { checklistHtml } from "../../../src/report/checklist/html.ts";
import { reportOf } from "../../checklist/fake-report.ts";
import { largeReport, oddReport } from "./odd-report.ts";

test("it is well-formed, loads nothing and runs nothing", async () => {
  const page = checklistHtml(await oddReport());
  expect(page).toContain("default-src 'none'");
  expect(page.replace(/xmlns="[^"]*"/g, "")).not.toMatch(/(src|href)="(?!#)|<script|url\(|@import|\son\w+=/i);
  // The inside of the page is XML as well, but for the empty elements of the head.
  const body = /<body>([\s\S]*)<\/body>/.exec(page)![1]!;
  expect(body).not.toContain("\u0000");
  execFileSync("xmllint", ["--noout", "-"], {
    input: `<body>${body}</body>`,
    stdio: ["pipe", "ignore", "pipe"],
  });
});

test("the top says what it comes to, and every tile leads to its item", async () => {
  const page = checklistHtml(await oddReport());
  expect(page).toMatch(/<strong>fail<\/strong>/);
  expect(page).toContain("<b>11 of 15</b>items pass");
  const links = [...page.matchAll(/href="#(item-\d+)"/g)].map((one) => one[1]);
  expect(links.length).toBe(15);
  for (const link of links) expect(page).toContain(`<section id="${link}">`);
});

test("open items are open, and the evidence is whole", async () => {
  const page = checklistHtml(await oddReport());
  const section = (n: number) => new RegExp(`<section id="item-${n}">[\\s\\S]*?</section>`).exec(page)![0];
  expect(section(2)).toContain('<details open="open"><summary>3 answers (fake-2)');
  expect(section(2)).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(section(2)).toContain("1d1h old");
  expect(section(3)).toContain("No evidence: it could not look.");
  expect(section(7)).toContain("<details><summary>1 answer (fake-7)");
  expect(section(4)).toContain("measured: fail; waived until");
});

test("what it is bound to is written out", async () => {
  const page = checklistHtml(await reportOf());
  for (const text of [
    "0b0e5d2e-53cf-4d52-8f3e-5f4f2f3a7d11",
    "a".repeat(40),
    "d".repeat(64),
    "db-1",
    "escapement 1.2.3",
  ])
    expect(page).toContain(text);
});

test("of very many answers the rest is counted", async () => {
  const page = checklistHtml(await largeReport(500));
  expect(page).toContain("300 more answer(s) are in the JSON report");
  expect(page.length).toBeLessThan(3_000_000);
});
