/** Evidence is what hosts, databases and people have written: no format lets it act, and none drowns in it. */
import { expect, test } from "vitest";
import { cut } from "../../../src/checklist/items/verdicts.ts";
import { render } from "../../../src/cli/checklist/formats.ts";
import { answer, evidence, job, reportOf, waiver } from "../../checklist/fake-report.ts";

/** A command of a pipeline, colours, a title of the window, a bell, a backspace, C1, reversed reading, lone returns. */
const bad =
  "a\n::set-output name=x::y\n## Checklist: pass\r\u001b[31mred\u001b]0;title\u0007 \u009b2J back\b\b \u202Etxt.exe\u2066 x\u2028y\u0000 <b>&";
const formats = ["text", "md", "html", "junit", "sarif"] as const;

const odd = () =>
  reportOf(
    {
      2: [
        answer("fail", {
          scope: job(`pay/${bad}`),
          message: bad,
          todo: bad,
          evidence: [evidence({ what: bad, output: bad })],
        }),
      ],
      4: [answer("fail", { scope: job("pay/x"), message: bad })],
    },
    { waivers: [waiver(4, { kind: "job", name: "pay/x" }, { reason: bad })] },
  );

test.each(formats)(
  "%s: no code for a terminal, no turned text, no line that a pipeline obeys",
  async (format) => {
    const text = render(await odd(), format, true);
    // Of JSON what its reader makes of the escapes.
    const read = format === "sarif" ? strings(JSON.parse(text)).join("\n") : text;
    const found = (pattern: RegExp) =>
      [...read.matchAll(pattern)].map(({ 0: what, index }) =>
        JSON.stringify(read.slice(index - 40, index + what.length)),
      );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(found(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g)).toEqual([]);
    expect(found(/[\u202a-\u202e\u2066-\u2069]/g)).toEqual([]);
    const lines = read
      .split("\n")
      .filter((line) => (format === "html" || format === "junit" ? /^::/ : /^(::|## )/).test(line));
    expect(lines).toEqual(format === "md" ? ["## Checklist: fail"] : []);
  },
);

function strings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

test("evidence of any length is cut where it is taken, and a message where it is shown", async () => {
  expect(cut("x".repeat(5_000_000)).length).toBeLessThan(20_000);
  const giant = "long ".repeat(400_000);
  const report = await reportOf({
    2: [
      answer("fail", {
        message: giant,
        todo: giant,
        evidence: [evidence({ output: cut(giant), what: cut(giant) })],
      }),
    ],
  });
  const bytes = (format: (typeof formats)[number]) => Buffer.byteLength(render(report, format, true));
  expect(bytes("md")).toBeLessThan(1_048_576);
  for (const one of strings(JSON.parse(render(report, "sarif", true))))
    expect(one.length).toBeLessThan(1_100);
  // Texts are the whole message a few times over, never evidence many times.
  for (const format of ["text", "html", "junit"] as const) expect(bytes(format)).toBeLessThan(20_000_000);
});
