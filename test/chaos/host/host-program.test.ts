/** The host's program as text: parts of it run in dash, as they run on a host, without a host. */
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readEvent } from "../../../src/chaos/host/read-answer.ts";
import { drillProgram } from "../../../src/provision/profile/features/drill-program.ts";
import { quoted, run } from "./program-script.ts";

test("one program, of every part, that a POSIX shell accepts", () => {
  expect(drillProgram().startsWith("#!/bin/sh\n")).toBe(true);
  expect(drillProgram().match(/^#!/gm)).toHaveLength(1);
  expect(spawnSync("sh", ["-n"], { input: drillProgram() }).status).toBe(0);
});

test("it says nowhere that a whole rule set, or another's qdisc, goes", () => {
  const code = drillProgram().replace(/^\s*#.*$/gm, "");
  for (const never of [/flush ruleset/, /\btc\b/, /pkill|killall|pgrep/, /sysrq/, /hwclock/, /timedatectl/])
    expect(code).not.toMatch(never);
});

test("an event is a line of JSON whatever its values hold", () => {
  const word = fc.string({ unit: "binary" }).map((text) => text.replaceAll("\0", ""));
  const values = [
    ...fc.sample(word, 60),
    ...[
      "0",
      "7",
      "-7",
      "007",
      "-0",
      "-",
      "1.5",
      "1e9",
      "true",
      "truer",
      '"',
      "\\",
      "\t\n",
      "ünï",
      "$(id)",
      "a b",
    ],
  ];
  const { text } = run(
    `${values.map((value) => `event proof value ${quoted(value)} pid 7`).join("\n")}\ncat "$run/events"`,
  );
  const events = text.split("\n").map(readEvent);
  expect(events.map((one) => one?.seq)).toEqual(values.map((_, i) => i + 1));
  for (const [i, value] of values.entries()) {
    const said = events[i]!.detail.value;
    if (/^(0|-?[1-9]\d{0,14})$/.test(value)) expect(said).toBe(Number(value));
    else if (/^[A-Za-z0-9 ]+$/.test(value) && value !== "true" && value !== "false") expect(said).toBe(value);
  }
});

test("two that write at once lose no event and give no number twice", () => {
  const { text } = run(`
    writer() { i=0; while [ $i -lt 20 ]; do event proof from "$1"; i=$((i + 1)); done; }
    writer a & writer b & writer c & wait
    cat "$run/events"`);
  expect(text.split("\n").map((line) => readEvent(line)?.seq)).toEqual(
    Array.from({ length: 60 }, (_, i) => i + 1),
  );
});

test("what is said once is said once, whoever says it again", () => {
  const { text } = run(`
    end() { event restored by "$1"; event audit residue 0; event ended residue 0; }
    end run & end keeper & end timer & wait
    end halt
    cat "$run/events"`);
  const events = text.split("\n").map((line) => readEvent(line)?.event);
  expect(events.toSorted()).toEqual(["audit", "ended", "restored"]);
});

describe("the rules of a cut", () => {
  const rules = (more: string) =>
    run(
      `s_interfaces='eth0 bond0.7' s_keep='10.0.0.5 2001:db8::1' s_gateways=10.0.0.1 s_arp=yes o_direction=both\n${more}\ncut_rules 4500`,
    ).text;

  test("nft takes them, and they are ours alone", () => {
    const text = rules("");
    expect(
      spawnSync("unshare", ["--net", "nft", "-c", "-f", "-"], { input: text, encoding: "utf8" }),
    ).toMatchObject({ status: 0 });
    expect(text.match(/^table \w+ \w+/gm)).toEqual([
      "table inet escapement_drill",
      "table arp escapement_drill",
    ]);
  });

  test("kept addresses come first, in both ways, and the names heal by themselves", () => {
    const text = rules("");
    for (const chain of text.match(/chain \w+ \{.*\}/g)!)
      expect(chain).toMatch(/@keep4? accept;.*@cut .*drop;/);
    expect(text).toContain('elements = { "eth0" timeout 4500ms, "bond0.7" timeout 4500ms }');
  });

  test("receive: nothing of what goes out is touched", () => {
    const text = rules("o_direction=receive s_arp=no");
    expect(text).not.toMatch(/hook output|table arp/);
    expect(text).toContain("hook input");
  });
});

test("what a host allows is a whole line, never a part of one", () => {
  const list = "fault kill\nunit a.service\nhold 10\n";
  const asked = (what: string) =>
    run(`printf ${quoted(list.replaceAll("\n", "\\n"))} >"$settings/allowed"\n${what} && echo yes || echo no`)
      .text;
  expect(asked("allowed fault kill")).toBe("yes");
  expect(asked("allowed fault kil")).toBe("no");
  expect(asked("allowed unit '.*'")).toBe("no");
  expect(asked("allowed unit a.service.d")).toBe("no");
  expect(asked("(at_most hold 10 'a hold')")).toBe("yes");
  expect(asked("(at_most hold 11 'a hold') >/dev/null")).toBe("no");
  expect(asked("(at_most limit 1 'a limit') >/dev/null")).toBe("no");
  expect(asked("(at_most hold 1e1 'a hold') >/dev/null")).toBe("no");
});

test("systemd's word on a timer is understood, whatever the uptime", () => {
  const isSet = (next: string, entered: number, left: number, state = "active") =>
    run(`unit=u left=${left}
      systemctl() { printf 'ActiveState=${state}\\nSubState=waiting\\nNextElapseUSecMonotonic=${next}\\nActiveEnterTimestampMonotonic=${entered}\\n'; }
      timer_is_set && echo yes || echo no`).text;
  const hours = (((7 * 60 + 20) * 60 + 3) * 1_000 + 123) * 1_000;
  expect(isSet("7h 20min 3.123456s", hours - 45_000_000, 45_000)).toBe("yes");
  expect(isSet("1month 2d 1min 500ms", (2_629_800 + 172_800 + 60) * 1_000_000 - 9_500_000, 10_000)).toBe(
    "yes",
  );
  expect(isSet("7h 20min 3.123456s", hours - 45_000_000, 60_000)).toBe("no");
  expect(isSet("infinity", hours, 45_000)).toBe("no");
  expect(isSet("", hours, 45_000)).toBe("no");
  expect(isSet("7h 20min 3.123456s", hours - 45_000_000, 45_000, "inactive")).toBe("no");
});

describe("trouble of the host's own", () => {
  const trouble = (more: string) =>
    run(`o_fault=kill load=1 processors=2
      read_load() { :; }
      printf 'reserve 1000\\nload 40\\n' >"$settings/allowed"
      ${more}
      own_trouble`).text;

  test("a host that is well has none", () => {
    expect(trouble("")).toBe("");
  });

  test.each([
    ["too much to do", "load=81", /^this host is overloaded: a load of 81 for 2 processors$/],
    [
      "a full disk",
      "printf 'reserve 999999999999999\\n' >\"$settings/allowed\"",
      /^this host has \d+ bytes free in \S+, and 9+ are/,
    ],
    [
      "little memory",
      'awk() { command awk "$1" <<END\nMemTotal: 1000 kB\nMemAvailable: 19 kB\nEND\n}',
      /^this host is short of memory$/,
    ],
  ])("%s", (_, more, words) => {
    expect(trouble(more)).toMatch(words);
  });

  test("at its bounds it is well, and a drill of the disk has a bound of its own", () => {
    expect(trouble("load=80")).toBe("");
    expect(trouble("o_fault=fill-disk; printf 'reserve 999999999999999\\n' >\"$settings/allowed\"")).toBe("");
    expect(trouble("load=9999; printf 'reserve 1\\n' >\"$settings/allowed\"")).toBe("");
  });
});

test("a clock that takes long to be read is known no better than that", () => {
  const read = (delayS: number) => {
    const text = run(`clock_file=''
      settings=/nonexistent
      date() { sleep ${delayS}; command date "$@"; sleep ${delayS}; }
      read_base
      echo $base $base_error`).text;
    return text.split(" ").map(Number) as [baseUs: number, errorMs: number];
  };
  const [quick, slow] = [read(0), read(0.15)];
  expect(slow[1]).toBeGreaterThanOrEqual(290);
  // What is true is in both spans: at most the base, and at least the base less the error.
  const least = Math.max(quick[0] - quick[1] * 1_000, slow[0] - slow[1] * 1_000);
  expect(Math.min(quick[0], slow[0])).toBeGreaterThanOrEqual(least - 2_000);
});
