/** The demo's input: real files with their habits, generated ones, and money in pence. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseCsv } from "../../src/lab/demo/csv.ts";
import { formatPence, parsePence } from "../../src/lab/demo/money.ts";
import { heaviestSupplier, periodsOf } from "../../src/lab/demo/payment.ts";
import { readPaymentFiles, readPayments } from "../../src/lab/demo/payment-files.ts";
import { generatePayments, generatePeople } from "../../src/lab/demo/payment-generator.ts";

const header = "row,payment_date,unit,supplier_id,amount";

describe("money", () => {
  test.each([
    ["1200.00", 120_000],
    ["-3503.96", -350_396],
    ["0.1", 10],
    ["7", 700],
    ["-0.00", 0],
    ["999999999999.99", 99_999_999_999_999],
  ])("%s is %i pence", (text, pence) => expect(parsePence(text)).toBe(pence));

  test.each(["", "1.234", "1,200.00", "12.", ".5", "1e3", "£5", "--1", "NaN"])("%j is no amount", (text) =>
    expect(parsePence(text)).toBeUndefined(),
  );

  test("what is written is read again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 - 10 ** 14, max: 10 ** 14 - 1 }), (pence) => {
        expect(parsePence(formatPence(pence).replaceAll(",", ""))).toBe(pence);
      }),
    );
    expect(formatPence(-123_456_789)).toBe("-1,234,567.89");
    expect(formatPence(5)).toBe("0.05");
  });
});

describe("csv", () => {
  test("what RFC 4180 allows", () => {
    const text = '\uFEFFa,b\r\n"x, ""y""\nz",2\n\n3,\n,\n"",4';
    expect(parseCsv(text)).toEqual([
      { line: 1, fields: ["a", "b"] },
      { line: 2, fields: ['x, "y"\nz', "2"] },
      { line: 5, fields: ["3", ""] },
      { line: 6, fields: ["", ""] },
      { line: 7, fields: ["", "4"] },
    ]);
  });

  test("written by the rules, it is read back, whatever is in the fields", () => {
    const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`;
    const record = fc.array(fc.string(), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), (records) => {
        const text = records.map((fields) => `${fields.map(quoted).join(",")}\n`).join("");
        expect(parseCsv(text).map(({ fields }) => fields)).toEqual(records);
      }),
    );
  });

  test("no text makes it hang or throw", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('"', ",", "\n", "\r", "a") }),
        (text) => void parseCsv(text),
      ),
    );
  });
});

describe("files of payments", () => {
  test("look-alikes are two payments, blank units are none, credit notes are negative", () => {
    const rows = [
      '1,2026-07-01,"Libraries, Archives",s1,10.50',
      "2,2026-07-02,,s1,10.50",
      "3,2026-07-02,,s1,10.50",
      "4,2026-07-31,Roads,s2,-3.05",
    ];
    const payments = readPayments([header, ...rows, ""].join("\n"), "payments-2026-07.csv");
    expect(payments.map(({ row, unit, pence }) => [row, unit, pence])).toEqual([
      [1, "Libraries, Archives", 1_050],
      [2, null, 1_050],
      [3, null, 1_050],
      [4, "Roads", -305],
    ]);
    expect(payments[3]).toMatchObject({ file: "payments-2026-07.csv", period: "2026-07", supplier: "s2" });
    expect(heaviestSupplier(payments)).toEqual({ supplier: "s1", rows: 3 });
  });

  test("columns are found by name, in any order", () => {
    const text = "supplier_id,amount,row,unit,payment_date,note\ns9,1.00,7,,2026-07-03,extra";
    expect(readPayments(text, "2026-07.csv")).toMatchObject([{ supplier: "s9", pence: 100, row: 7 }]);
  });

  test.each([
    ["1,2026-07-01,Roads,s1,ten", /p-2026-07\.csv:2 amount: ten/],
    ["1,2026-07-01,Roads,s1,1.005", /:2 amount: 1\.005/],
    ["1,2026-07-32,Roads,s1,1.00", /:2 payment_date: 2026-07-32/],
    ["x,2026-07-01,Roads,s1,1.00", /:2 row: x/],
    ["1,2026-07-01,Roads,,1.00", /:2 supplier_id is empty/],
    ["1,2026-07-01,Libraries, Archives,s1,1.00", /:2 has 6 fields instead of 5/],
    ["1,2026-07-01,Roads,s1,1.00\n1,2026-07-02,Roads,s2,2.00", /:3 row 1 is there twice/],
  ])("%s is refused with file and line", (rows, message) => {
    expect(() => readPayments(`${header}\n${rows}\n`, "p-2026-07.csv")).toThrow(
      expect.objectContaining({ code: "E_BAD_DATA", message: expect.stringMatching(message) }),
    );
  });

  test("a name without a month, a missing column and an empty folder are refused", async () => {
    expect(() => readPayments(header, "payments.csv")).toThrow(/has no month/);
    expect(() => readPayments("row,amount", "2026-07.csv")).toThrow(
      /no column payment_date, unit, supplier_id/,
    );
    const folder = mkdtempSync(join(tmpdir(), "escapement-test-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await expect(readPaymentFiles(folder)).rejects.toMatchObject({ code: "E_BAD_DATA" });
    await expect(readPaymentFiles(join(folder, "no"))).rejects.toMatchObject({ code: "E_FILE_UNREADABLE" });
    writeFileSync(join(folder, "b-2026-08.csv"), `${header}\n1,2026-08-01,,s1,1.00\n`);
    writeFileSync(join(folder, "a-2026-07.csv"), `${header}\n1,2026-07-01,,s1,1.00\n`);
    writeFileSync(join(folder, "README.md"), "not data");
    expect(periodsOf(await readPaymentFiles(folder))).toEqual(["2026-07", "2026-08"]);
  });
});

describe("generated payments", () => {
  const payments = generatePayments(42, ["2026-06", "2026-07"]);

  test("the same seed gives the same rows, another one gives others", () => {
    expect(generatePayments(42, ["2026-06", "2026-07"])).toEqual(payments);
    expect(generatePayments(43, ["2026-06", "2026-07"])).not.toEqual(payments);
    expect(generatePeople(42)).toEqual(generatePeople(42));
  });

  test("they have the habits of real ones", () => {
    expect(payments.length).toBe(20_000);
    expect(heaviestSupplier(payments).rows / payments.length).toBeGreaterThan(0.1);
    expect(payments.filter(({ pence }) => pence < 0).length).toBeGreaterThan(400);
    expect(payments.filter(({ unit }) => unit === null).length).toBeGreaterThan(400);
    const alike = payments.filter((one, i) => {
      const before = payments[i - 1];
      return before && JSON.stringify({ ...before, row: 0 }) === JSON.stringify({ ...one, row: 0 });
    });
    expect(alike.length).toBeGreaterThan(300);
    expect(payments.every(({ pence }) => Number.isSafeInteger(pence) && pence !== 0)).toBe(true);
    expect(payments.every(({ date, period }) => date.startsWith(period))).toBe(true);
    expect(new Set(payments.map(({ file, row }) => `${file} ${row}`)).size).toBe(payments.length);
  });
});
