/** The gather script run for real on this machine, with stand-ins for tools that are not installed here. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { cpus, hostname, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { factValue } from "../../src/base/fact.ts";
import { examine } from "../../src/hardware/findings/examine.ts";
import { gatherCommands } from "../../src/hardware/gather/commands.ts";
import { gatherScript } from "../../src/hardware/gather/gather-script.ts";
import { parseGathered } from "../../src/hardware/gather/gathered.ts";
import type { HostFacts } from "../../src/hardware/host-facts.ts";
import { savedOutputs } from "../cases/hardware/outputs.ts";
import { until } from "../support/until.ts";

const nonce = "a1b2c3d4e5f6";
let folder = "";

/** A program that stands in for a tool: prints a text on each stream, ends with a code. */
function standIn(name: string, output: string, { complaint = "", code = 0, before = "" } = {}): void {
  const script = `#!/bin/sh\n${before}\ncat <<'__END'\n${output}\n__END\nprintf '%s' '${complaint}' >&2\nexit ${code}\n`;
  writeFileSync(join(folder, name), script);
  chmodSync(join(folder, name), 0o755);
}

function run(script: string, uid?: number): string {
  const { stdout } = spawnSync("sh", ["-s"], {
    input: script,
    encoding: "utf8",
    env: { PATH: `${folder}:${process.env.PATH ?? ""}`, TMPDIR: tmpdir() },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  return stdout;
}

const textOf = (name: string) => savedOutputs.find((one) => one.name === name)!.text;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "escapement-tools-"));
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Folders in which a gathering keeps its answers for a moment. */
function traces(): string[] {
  return ["/run", "/dev/shm", tmpdir()].flatMap((place) => {
    if (!existsSync(place)) return [];
    const names = readdirSync(place).filter((name) => name.startsWith("escapement-facts."));
    return names.map((name) => join(place, name));
  });
}
const before = new Set(traces());

describe("this machine", () => {
  let reply = "";
  let facts: HostFacts;
  beforeAll(() => {
    reply = run(gatherScript(nonce));
    facts = parseGathered(reply, nonce);
  });

  test("arrives whole and agrees with what Node knows", () => {
    expect(facts.isComplete).toEqual({ known: true });
    expect(facts.os.kernel).toEqual({ known: release() });
    expect(facts.hostName).toEqual({ known: hostname() });
    expect(facts.asRoot).toEqual({ known: process.getuid?.() === 0 });
    expect(factValue(facts.cpu.threads)).toBeGreaterThanOrEqual(cpus().length);
    expect(factValue(facts.memory.totalBytes)).toBeCloseTo(totalmem(), -6);
    expect(factValue(facts.sysctl["vm.swappiness"] ?? { unknown: "" })).toMatch(/^\d+$/);
  });

  test("a banner before and noise behind change nothing", () => {
    const noisy = `Welcome!\nLast login: today {"json": true}\n${reply}logout\n`;
    expect(parseGathered(noisy, nonce)).toEqual(facts);
    expect(parseGathered(`no line end ${reply}`, nonce)).toEqual(facts);
  });

  test("with another nonce nothing is known", () => {
    const other = parseGathered(reply, "zzzzzzzzzzzz");
    expect(other.isComplete).toEqual({ unknown: expect.stringContaining("no frame") });
    expect(other.os.kernel).toHaveProperty("unknown");
    expect(examine(other).passed).toEqual([]);
  });

  test("nothing is left behind", async () => {
    // Others may gather on this machine at this moment; what they leave for a while goes, too.
    const made = traces();
    await until(async () => made.every((path) => !existsSync(path) || before.has(path)), {
      what: `the end of ${made.join(", ")}`,
      deadlineMs: 20_000,
    });
  });
});

describe("a machine of stand-ins", () => {
  let reply = "";
  let facts: HostFacts;
  beforeAll(() => {
    standIn("systemd-detect-virt", "none", { code: 1 });
    standIn("lscpu", textOf("lscpu: nested JSON, two sockets in one node"));
    standIn("dmidecode", textOf("dmidecode: the last module is slow"));
    standIn("ipmitool", textOf("ipmitool: the last of three supplies lost its feed"));
    standIn("storcli64", textOf("storcli: one volume of two caches even with a bad battery"));
    standIn("perccli", "", { before: "sleep 30" });
    standIn("ssacli", "", { code: 1, complaint: "something odd" });
    standIn("timedatectl", textOf("timedatectl show: as it should be"));
    writeFileSync(
      join(folder, "chronyc"),
      `#!/bin/sh\ncase "$*" in *sources*) cat "$0.sources" ;; *) cat "$0.tracking" ;; esac\n`,
    );
    chmodSync(join(folder, "chronyc"), 0o755);
    writeFileSync(join(folder, "chronyc.sources"), textOf("chronyc sources: four good ones"));
    writeFileSync(
      join(folder, "chronyc.tracking"),
      textOf("chronyc tracking: in step, 31 microseconds fast"),
    );
    const commands = gatherCommands.map((one) => ({ ...one, limitSeconds: one.name === "perccli" ? 1 : 10 }));
    reply = run(gatherScript(nonce, commands));
    facts = parseGathered(reply, nonce);
  }, 30_000);

  test("facts come from every tool", () => {
    expect(facts.isComplete).toEqual({ known: true });
    expect(facts.cpu.sockets).toEqual({ known: 2 });
    expect(facts.memory.ecc).toEqual({ known: "multi-bit" });
    expect(factValue(facts.memory.dimms)).toHaveLength(4);
    expect(factValue(facts.power.supplies)).toHaveLength(3);
    expect(facts.clock.ntp.stratum).toEqual({ known: 2 });
    expect(facts.clock.ntp.offsetSeconds).toEqual({ known: 0.000031 });
    expect(facts.clock.ntp.reach).toEqual({ known: 8 });
    expect(facts.clock.timeZone).toEqual({ known: "Etc/UTC" });
  });

  test("findings are told, worst first", () => {
    const { findings } = examine(facts);
    const ids = findings.map((one) => one.id);
    expect(ids).toContain("raid-cache-unprotected");
    expect(ids).toContain("power-feed-lost");
    expect(ids).toContain("memory-below-rated-speed");
    const order = findings.map((one) => ["critical", "warning", "info"].indexOf(one.severity));
    expect(order).toEqual([...order].sort());
  });

  test("a tool that hangs costs only its own answer", () => {
    expect(reply).toMatch(new RegExp(`^${nonce} section perccli (124|137) `, "m"));
    expect(reply).toMatch(new RegExp(`^${nonce} section ssacli 1 \\d+ something odd`, "m"));
  });

  test("cut anywhere, the reply is known to be cut and reads no better", () => {
    const key = (one: { id: string; subject?: string }) => `${one.id} ${one.subject ?? ""}`;
    const whole = new Set(examine(facts).passed.map(key));
    const complaints: string[] = [];
    for (let length = 0; length < reply.length; length += length > reply.length - 40 ? 1 : 61) {
      const cut = parseGathered(reply.slice(0, length), nonce);
      // The last line without its line end is still no proof.
      if (!("unknown" in cut.isComplete)) complaints.push(`${length}: taken as complete`);
      for (const one of examine(cut).passed)
        if (!whole.has(key(one))) complaints.push(`${length}: ${key(one)} became good`);
    }
    expect(complaints.slice(0, 5)).toEqual([]);
  });

  test("a section with a byte missing is not read", () => {
    const broken = reply.replace("Multi-bit ECC", "Multi-bitECC");
    expect(parseGathered(broken, nonce).memory.ecc).toEqual({
      unknown: "dmidecode: its output was cut short",
    });
  });

  test.skipIf(process.getuid?.() !== 0)(
    "without root the firmware's table is unknown for that reason",
    () => {
      rmSync(join(folder, "perccli"));
      standIn("dmidecode", "", { code: 1, complaint: "/dev/mem: Permission denied" });
      const read = parseGathered(run(gatherScript(nonce), 65_534), nonce);
      expect(read.isComplete).toEqual({ known: true });
      expect(read.asRoot).toEqual({ known: false });
      expect(read.memory.ecc).toEqual({ unknown: "dmidecode: needs root" });
    },
  );
});

test("a nonce that could break the script is refused", () => {
  expect(() => gatherScript("a; rm -rf /")).toThrow(RangeError);
});
