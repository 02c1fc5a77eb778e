/** The workbook: what is in the file, and that LibreOffice computes the same values from its formulas. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { procurementWorkbook } from "../../src/report/procurement/workbook.ts";
import { columnName, type Workbook, type WorkbookCell } from "../../src/report/workbook.ts";
import { writeXlsx } from "../../src/report/xlsx.ts";
import { unavailable } from "../support/tier.ts";
import { hostile, hostileSheet, sheetUnderTest } from "./sheet-under-test.ts";

const folders: string[] = [];
function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  folders.push(folder);
  return folder;
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Files of a zip archive, by its central directory. */
function unzip(archive: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  let at = archive.readUInt32LE(archive.lastIndexOf(Buffer.from("PK\u0005\u0006")) + 16);
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [size, nameLength, extra, comment, local] = [
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
      archive.readUInt16LE(at + 30),
      archive.readUInt16LE(at + 32),
      archive.readUInt32LE(at + 42),
    ];
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const raw = archive.subarray(start, start + size);
    files.set(name, (archive.readUInt16LE(at + 10) === 0 ? raw : inflateRawSync(raw)).toString("utf8"));
    at += 46 + nameLength + extra + comment;
  }
  return files;
}

const formulas = (workbook: Workbook) =>
  workbook.pages
    .flatMap(({ rows }) => rows.flat())
    .filter((cell): cell is WorkbookCell & { formula: string } => cell?.formula !== undefined);

describe("the file", () => {
  test("every formula carries its value, and no text is a formula", async () => {
    const workbook = procurementWorkbook(hostileSheet());
    const files = unzip(await writeXlsx(workbook));
    const sheets = [...files].filter(([name]) => name.startsWith("xl/worksheets/sheet"));
    expect(sheets).toHaveLength(workbook.pages.length);
    const inFile = sheets.flatMap(([, xml]) => [...xml.matchAll(/<f>([^<]*)<\/f>(<v>[^<]*<\/v>)?/g)]);
    expect(inFile).toHaveLength(formulas(workbook).length);
    expect(inFile.length).toBeGreaterThan(100);
    for (const [, formula, value] of inFile) {
      expect(value, formula).toBeDefined();
      expect(formula).not.toContain("HYPERLINK");
    }
    // The hostile title is there, as shared text.
    expect(files.get("xl/sharedStrings.xml")).toContain(
      hostile
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;")
        .replaceAll('"', "&quot;")
        .slice(0, 11),
    );
    expect(files.get("xl/workbook.xml")).toContain('fullCalcOnLoad="1"');
  });

  test("a cell with control characters does not break the file", async () => {
    const page = {
      name: "A",
      columns: [10],
      rows: [[{ value: "a\u0000b\u001bc", style: "text" as const }]],
      sticky: 0,
    };
    const files = unzip(await writeXlsx({ pages: [page] }));
    expect(files.get("xl/sharedStrings.xml")).toContain("<t>abc</t>");
  });

  test("columns are named as spreadsheets name them", () => {
    expect([0, 25, 26, 51, 52, 701, 702].map(columnName)).toEqual(["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
  });
});

const soffice = ["soffice", "libreoffice"].find(
  (name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0,
);
const skip = unavailable("LibreOffice Calc", soffice !== undefined);

/** Opens the file, computes everything anew, and returns the cells of every page as text. */
function recompute(file: string): Map<string, string[][]> {
  const folder = temporaryFolder("escapement-calc-");
  const profile = join(folder, "profile");
  execFileSync("mkdir", ["-p", join(profile, "user")]);
  // 0: always compute, whatever values the file carries.
  const always = (mode: string) =>
    `<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="${mode}" oor:op="fuse"><value>0</value></prop></item>`;
  writeFileSync(
    join(profile, "user/registrymodifications.xcu"),
    `<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${always("OOXMLRecalcMode")}${always("ODFRecalcMode")}</oor:items>`,
  );
  // Every page to a file of its own, raw values in place of formatted ones.
  const filter = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1";
  execFileSync(
    soffice!,
    [
      `-env:UserInstallation=file://${profile}`,
      "--headless",
      "--convert-to",
      filter,
      "--outdir",
      folder,
      file,
    ],
    { stdio: "pipe", timeout: 150_000 },
  );
  const pages = new Map<string, string[][]>();
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".csv"))) {
    pages.set(
      name.replace(/^[^-]*-/, "").replace(/\.csv$/, ""),
      parseCsv(readFileSync(join(folder, name), "utf8")),
    );
  }
  return pages;
}

function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === "\n") rows.push([]);
  }
  return rows;
}

describe.skipIf(skip)("LibreOffice", () => {
  const folder = temporaryFolder("escapement-sheet-");
  const compare = async (workbook: Workbook, file: string, expected: Workbook) => {
    writeFileSync(file, await writeXlsx(workbook));
    const pages = recompute(file);
    expect([...pages.keys()].sort()).toEqual(expected.pages.map(({ name }) => name).sort());
    let compared = 0;
    for (const page of expected.pages) {
      const cells = pages.get(page.name)!;
      page.rows.forEach((row, r) => {
        row.forEach((cell, c) => {
          if (cell?.formula === undefined) return;
          const found = cells[r]?.[c];
          const place = `${page.name}!${columnName(c)}${r + 1} = ${cell.formula}`;
          if (typeof cell.value === "string") expect(found, place).toBe(cell.value);
          else
            expect(Math.abs(Number(found) - cell.value), `${place}: ${found}`).toBeLessThanOrEqual(
              1e-9 * Math.max(1, Math.abs(cell.value)),
            );
          compared++;
        });
      });
    }
    return compared;
  };

  test("computes every formula to the value that the file carries", { timeout: 180_000 }, async () => {
    const workbook = procurementWorkbook(sheetUnderTest());
    expect(await compare(workbook, join(folder, "order.xlsx"), workbook)).toBe(formulas(workbook).length);
  });

  test("and to other values when a purchaser changes inputs: those that the calculators give for them", {
    timeout: 180_000,
  }, async () => {
    const before = procurementWorkbook(sheetUnderTest());
    // Retention, growth and archive of another workload; the simulation's bytes for each shard stay as they are.
    const after = sheetUnderTest({
      workload: {
        growthPerYear: 0.5,
        records: { retentionMonths: 25, bytesPerShard: 1_000, retryShare: 0.01, archiveDays: 30 },
      },
    });
    const expected = procurementWorkbook(after);
    const inputs = expected.pages.find(({ name }) => name === "Inputs")!;
    const changed: Workbook = { pages: before.pages.map((page) => (page.name === "Inputs" ? inputs : page)) };
    const only = (workbook: Workbook) => ({
      pages: workbook.pages.map((page) =>
        ["Storage", "Disk load"].includes(page.name)
          ? page
          : {
              ...page,
              rows: page.rows.map((row) =>
                row.map((cell) => (cell?.formula === undefined ? cell : undefined)),
              ),
            },
      ),
    });
    expect(await compare(changed, join(folder, "changed.xlsx"), only(expected))).toBeGreaterThan(20);
    expect(after.storage.figures.needed!.value).toBeGreaterThan(
      1.5 * sheetUnderTest().storage.figures.needed!.value,
    );
  });
});
