/**
 * Outputs that were cut, mixed up and dirtied: no parser throws, and a cut
 * output never reads better than the whole one.
 */
import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { gatherScript } from "../../src/hardware/gather/gather-script.ts";
import { parseGathered } from "../../src/hardware/gather/gathered.ts";
import { type OutputKind, outputKinds, readOutput } from "../../src/hardware/kinds.ts";
import { savedOutputs } from "../cases/hardware/outputs.ts";
import { corpus } from "./corpus-case.ts";
import { machineCases } from "./corpus-machine.ts";
import { raidAndPowerCases } from "./corpus-raid-and-power.ts";
import { replyOf } from "./reply.ts";

const real = existsSync(corpus)
  ? [...raidAndPowerCases, ...machineCases].map(({ file, kind }) => ({
      name: file,
      kind,
      text: readFileSync(`${corpus}${file}`, "utf8"),
    }))
  : [];
const outputs = [...savedOutputs, ...real];
const kinds = Object.keys(outputKinds) as OutputKind[];

/** Verdicts as "check subject" → good, unknown or bad. */
function verdicts(kind: OutputKind, text: string, isWhole: boolean) {
  const { findings, unjudged, passed } = readOutput(kind, { text, isWhole }).examination;
  const key = (one: { id: string; subject?: string }) => `${one.id} ${one.subject ?? ""}`;
  return {
    good: new Set(passed.map(key)),
    bad: new Set(findings.map((one) => one.id)),
    said: new Set([...findings, ...unjudged].map((one) => one.id)),
  };
}

describe("a cut output never reads better than the whole one", () => {
  test.each(outputs)("$name", ({ kind, text }) => {
    const whole = verdicts(kind, text, true);
    // Every length of a short text; of a long one every line end, its neighbours, and some in between.
    const step = Math.max(1, Math.floor(text.length / 400));
    const lengths = new Set<number>();
    for (let at = 0; at < text.length; at += step) lengths.add(at);
    let end = text.indexOf("\n");
    for (let lines = 0; end >= 0 && lines < 500; lines++) {
      for (const at of [end - 1, end, end + 1]) lengths.add(Math.max(0, at));
      end = text.indexOf("\n", end + 1);
    }
    const complaints: string[] = [];
    for (const length of lengths) {
      if (length >= text.length) continue;
      const cut = verdicts(kind, text.slice(0, length), false);
      for (const key of cut.good) if (!whole.good.has(key)) complaints.push(`${length}: ${key} became good`);
      for (const id of whole.bad) if (!cut.said.has(id)) complaints.push(`${length}: ${id} is not mentioned`);
    }
    expect(complaints.slice(0, 5)).toEqual([]);
  });
});

describe("no parser throws", () => {
  test.each(kinds)("%s on any text", (kind) => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 400 }), fc.json()), (text) => {
        readOutput(kind, { text, isWhole: true });
        readOutput(kind, { text, isWhole: false });
      }),
      { numRuns: 100 },
    );
  });

  const anyOutput = fc.constantFrom(...outputs);
  const noise = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom(
      "WARNING: lvmetad is not running",
      "{",
      "}",
      "]",
      ":",
      "=",
      "Status: OK",
      "\u0000\u001b[31m",
    ),
  );

  test("lines in another order, lines in between, bytes replaced", () => {
    fc.assert(
      fc.property(
        anyOutput,
        fc.array(noise, { maxLength: 6 }),
        fc.integer(),
        ({ kind, text }, extra, seed) => {
          const lines = text.split("\n");
          let state = seed >>> 0;
          const random = (below: number) => {
            state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
            return state % below;
          };
          for (const one of extra) lines.splice(random(lines.length + 1), 0, one);
          readOutput(kind, { text: lines.join("\n"), isWhole: true });
          for (let i = lines.length - 1; i > 0; i--) {
            const j = random(i + 1);
            [lines[i], lines[j]] = [lines[j]!, lines[i]!];
          }
          readOutput(kind, { text: lines.join("\n"), isWhole: true });
          const bytes = [...text];
          for (let i = 0; i < 5; i++) bytes[random(bytes.length)] = String.fromCharCode(random(256));
          readOutput(kind, { text: bytes.join(""), isWhole: true });
        },
      ),
      { numRuns: 300 },
    );
  });

  test("JSON with values of any other type in place of its own", () => {
    fc.assert(
      fc.property(anyOutput, fc.jsonValue(), fc.nat(), ({ kind, text }, value, place) => {
        let document: unknown;
        try {
          document = JSON.parse(text);
        } catch {
          return;
        }
        let count = 0;
        const changed = JSON.stringify(document, (_, one: unknown) => (count++ === place % 80 ? value : one));
        readOutput(kind, { text: changed ?? "null", isWhole: true });
      }),
      { numRuns: 300 },
    );
  });

  test("rows about drives behind controllers, of any words", () => {
    const word = fc.oneof(
      fc.constantFrom(
        "bus",
        "card",
        "asked",
        "failed",
        "disk",
        "late",
        "tool",
        "none",
        "hpsa",
        "cciss,0",
        "0",
      ),
      fc.string({ unit: "binary", maxLength: 8 }),
    );
    const rows = fc.array(fc.array(word, { maxLength: 5 }), { maxLength: 12 });
    fc.assert(
      fc.property(rows, anyOutput, fc.nat(), (written, { text }, cut) => {
        const nonce = "fuzzfuzz2";
        const lines = written.map((one) => one.join(" ")).join("\n");
        const reply = replyOf(nonce, { "raid-disks": lines, "smartctl-raid:0": text });
        parseGathered(reply, nonce);
        // A list that was cut is never the whole list.
        const less = parseGathered(reply.slice(0, cut % reply.indexOf("close raid-disks")), nonce);
        expect(less.raidDisks).toHaveProperty("unknown");
      }),
      { numRuns: 200 },
    );
  });

  test("a reply of a host, cut or dirtied anywhere", () => {
    const nonce = "fuzzfuzz1";
    expect(gatherScript(nonce)).toContain(nonce);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...kinds, "block", "nics", "uname", "raid-disks"), anyOutput), {
          maxLength: 5,
        }),
        fc.nat(),
        (parts, cut) => {
          const sections = parts.map(
            ([name, { text }]) =>
              `${nonce} section ${name} 0 ${text.length} \n${text}\n${nonce} close ${name}\n`,
          );
          const reply = `${nonce} begin 1 0\n${sections.join("")}${nonce} end ${sections.length}\n`;
          parseGathered(reply, nonce);
          const less = parseGathered(reply.slice(0, cut % reply.length), nonce);
          expect(less.isComplete).toEqual({ unknown: expect.any(String) });
        },
      ),
      { numRuns: 150 },
    );
  });
});

test("noise around the JSON of a tool does not hide bad news", () => {
  const { kind, text } = savedOutputs.find(({ name }) => name.startsWith("storcli: battery failed"))!;
  const noisy = `modprobe: WARNING: module not found\n${text}\n# done\n`;
  expect(verdicts(kind, noisy, true).bad).toEqual(verdicts(kind, text, true).bad);
});
