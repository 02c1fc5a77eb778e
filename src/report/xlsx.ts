/**
 * Writes a workbook as XLSX: the only file that imports the sheet writer.
 *
 * The writer leaves the values of formulas out; they are put in here, so that a
 * viewer that does not compute shows the numbers too. Text is always stored as
 * text: a cell that begins with an equals sign stays what it is.
 */
import writeExcelFile, { type Cell, type Feature, type Options, type Sheet } from "write-excel-file/node";
import {
  type CellStyle,
  columnName,
  type NumberFormat,
  type Workbook,
  type WorkbookCell,
  type WorkbookPage,
  type WorkbookRow,
} from "./workbook.ts";

const formats: Readonly<Record<NumberFormat, string>> = {
  whole: "#,##0",
  decimal: "#,##0.00",
  percent: "0.0%",
  money: "#,##0.00",
  // Each comma at the end divides by a thousand.
  gigabytes: '#,##0.00,,,"\u00a0GB"',
  megabytes: '#,##0.0,,"\u00a0MB"',
  gibibytes: '#,##0.0"\u00a0GiB"',
};

const blue = "#1f4e9c";
const headingStyle = {
  fontWeight: "bold",
  backgroundColor: "#dfe6f0",
  bottomBorderStyle: "thin",
  bottomBorderColor: "#8a97ab",
  wrap: true,
};
const styles: Readonly<Record<CellStyle, Record<string, unknown>>> = {
  title: { fontWeight: "bold", fontSize: 16, textColor: "#12263f" },
  heading: headingStyle,
  headingRight: { ...headingStyle, align: "right" },
  headingIndented: { ...headingStyle, align: "left", indent: 1 },
  label: { fontWeight: "bold", wrap: true },
  text: { wrap: true },
  textIndented: { wrap: true, align: "left", indent: 1 },
  note: { fontStyle: "italic", textColor: "#5a6573", wrap: true, align: "left", indent: 1 },
  input: { textColor: blue, backgroundColor: "#eef4ff", borderStyle: "thin", borderColor: "#b9cbe8" },
  computed: {},
  total: { fontWeight: "bold", topBorderStyle: "thin", topBorderColor: "#8a97ab" },
  good: { fontWeight: "bold", textColor: "#1b6e3a" },
};

/** What the writer takes for the contents of images, of which there are none. */
type FileContent = Parameters<typeof writeExcelFile>[0] extends readonly Sheet<infer C>[] ? C : never;

/** The bytes of the file. */
export async function writeXlsx(workbook: Workbook): Promise<Buffer> {
  const sheets = workbook.pages.map(sheetOf);
  const options: Options<FileContent> = {
    fontFamily: "Arial",
    fontSize: 10,
    features: [withValues(workbook)],
  };
  return writeExcelFile(sheets, options).toBuffer();
}

function sheetOf(page: WorkbookPage): Sheet<FileContent> {
  return {
    sheet: page.name,
    columns: page.columns.map((width) => ({ width })),
    data: page.rows.map((row) => sizedRow(row, page.columns)),
    orientation: "landscape",
    showGridLines: false,
    ...(page.sticky > 0 && { stickyRowsCount: page.sticky }),
  };
}

/** Points of one line of text, and of the title. */
const lineHeight = 13.5;
const titleHeight = 26;

/** Programs do not grow rows for text that is wrapped across joined cells: the height is written down. */
function sizedRow(row: WorkbookRow, columns: readonly number[]): Cell[] {
  const isTitle = row.some((cell) => cell?.style === "title");
  const lines = Math.max(1, ...row.map((cell, i) => linesOf(cell, i, columns)));
  const height = isTitle ? titleHeight : lines * lineHeight + 1.5;
  return row.map((cell) => {
    const written = cellOf(cell);
    return written !== null && typeof written === "object" ? ({ ...written, height } as Cell) : written;
  });
}

function linesOf(cell: WorkbookCell | undefined, column: number, columns: readonly number[]): number {
  if (!cell || typeof cell.value !== "string" || cell.formula !== undefined) return 1;
  const width = columns.slice(column, column + (cell.span ?? 1)).reduce((sum, one) => sum + one, 0);
  const isIndented = cell.style === "note" || cell.style === "textIndented";
  const isPlain = cell.style === "text" || isIndented;
  // Bold text and an indent take more room than plain text.
  const room = width * (isPlain ? 1.12 : 0.95) - (isIndented ? 1 : 0);
  return Math.ceil(cell.value.length / Math.max(1, room));
}

function cellOf(cell: WorkbookCell | undefined): Cell {
  if (!cell) return null;
  const style = {
    ...styles[cell.style],
    alignVertical: "top",
    ...(cell.span !== undefined && { columnSpan: cell.span }),
  };
  const format = cell.format === undefined ? {} : { format: formats[cell.format] };
  if (cell.formula !== undefined)
    return { type: "Formula", value: cell.formula, ...style, ...format } as Cell;
  if (typeof cell.value === "number") return { type: Number, value: cell.value, ...style, ...format } as Cell;
  return { type: String, value: cell.value, ...style } as Cell;
}

/** Adds the value to each formula, fits pages to the paper's width, and asks the reader's program to compute anew. */
function withValues(workbook: Workbook): Feature<FileContent> {
  return {
    files: {
      transform: {
        "xl/worksheets/sheet{id}.xml": {
          transform: (xml, _options, { sheetIndex }) => {
            const page = workbook.pages[sheetIndex]!;
            const filled = xml.replace(
              /<c r="([A-Z]+\d+)"([^>]*)><f>([^<]*)<\/f><\/c>/g,
              (_, address: string, attributes: string, formula: string) => {
                const value = valueAt(page, address);
                return typeof value === "number"
                  ? `<c r="${address}"${attributes}><f>${formula}</f><v>${value}</v></c>`
                  : `<c r="${address}"${attributes} t="str"><f>${formula}</f><v>${escapeXml(value)}</v></c>`;
              },
            );
            return filled
              .replace(/(<worksheet[^>]*>)/, '$1<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>')
              .replace(/<pageSetup /, '<pageSetup fitToWidth="1" fitToHeight="0" ');
          },
        },
        "xl/workbook.xml": {
          transform: (xml) => xml.replace("<calcPr/>", '<calcPr calcId="0" fullCalcOnLoad="1"/>'),
        },
      },
    },
  };
}

function valueAt(page: WorkbookPage, address: string): string | number {
  const [, letters, row] = /^([A-Z]+)(\d+)$/.exec(address)!;
  const cells = page.rows[Number(row) - 1]!;
  const column = cells.findIndex((_, i) => columnName(i) === letters);
  return cells[column]!.value;
}

function escapeXml(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
