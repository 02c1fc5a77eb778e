/** The host's program as text: parts of it run in dash, as they run on a host, without a host. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { readEvent } from "../../../src/chaos/host/read-answer.ts";
import { drillProgram } from "../../../src/provision/profile/features/drill-program.ts";

const folder = mkdtempSync(join(tmpdir(), "escapement-drill-program-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const parts = "profiles/files/drill";
const beforeVerbs = readdirSync(parts)
  .sort()
  .filter((name) => !name.startsWith("90-"))
  .map((name) => readFileSync(join(parts, name), "utf8"))
  .join("");

let count = 0;
/** Runs a script after the functions of the program, with its folders below a temporary one. */
function run(script: string): { text: string; code: number | null } {
  count += 1;
  const own = join(folder, String(count));
  execFileSync("mkdir", ["-p", join(own, "settings"), join(own, "run/r"), join(own, "kept/runs/r")]);
  const moved = `own=${own}\nsettings=$own/settings kept=$own/kept work=$own/run id=r run=$own/run/r\n`;
  writeFileSync(join(own, "run/r/events"), "");
  writeFileSync(join(own, "script"), `${beforeVerbs}\n${moved}${script}`);
  const { stdout, stderr, status } = spawnSync("sh", [join(own, "script")], { encoding: "utf8" });
  return { text: `${stdout}${stderr}`.trim(), code: status };
}
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

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

test.each([
  ["a connection", "echo tried", "answers"],
  ["a refusal", "echo tried; echo 'bash: connect: Connection refused'; return 1", "answers"],
  ["silence", "echo tried; return 124", "silent"],
  [
    "nobody at that address any more",
    "echo tried; echo 'bash: connect: No route to host'; return 1",
    "silent",
  ],
  ["no way out of here", "echo tried; echo 'bash: connect: Network is unreachable'; return 1", "unknown"],
  ["it never came to try", "return 124", "unknown"],
  ["there is no bash", "return 127", "unknown"],
])("a peer, and how a connection to it ended: %s", (_, tried, answer) => {
  const { text } = run(`timeout() { ${tried}; }\nreach reach=10.0.0.1,22`);
  expect(text).toBe(`reach 10.0.0.1,22 ${answer}`);
});

test("a peer of this machine is really tried, and what is no peer is not", async () => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const peers = [`127.0.0.1,${port}`, "127.0.0.1,ssh", ",22", "127.0.0.1"];
    const { text } = run(`look ${peers.map((peer) => quoted(`reach=${peer}`)).join(" ")}`);
    expect(text.split("\n")).toEqual(
      peers.map((peer, nth) => `reach ${peer} ${nth === 0 ? "answers" : "unknown"}`),
    );
  } finally {
    server.close();
  }
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
