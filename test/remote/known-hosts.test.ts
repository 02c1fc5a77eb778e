/** known_hosts by hand: every form of a line, vectors made by ssh-keygen, and any text at all. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fingerprintOf, keyTypeOf } from "../../src/remote/host-key.ts";
import {
  judgeKey,
  knownHostName,
  knownHostsLine,
  knownTypes,
  parseKnownHosts,
} from "../../src/remote/known-hosts.ts";
import { addKnownHosts, readKnownHosts } from "../../src/remote/known-hosts-files.ts";

/** A blob that says it is of a type, with some bytes in it. */
function blob(seed: number, type = "ssh-ed25519"): Buffer {
  const word = Buffer.from(type);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(word.length);
  return Buffer.concat([length, word, Buffer.alloc(36, seed)]);
}
const one = blob(1);
const two = blob(2);
const text = (key: Buffer) => `${keyTypeOf(key)} ${key.toString("base64")}`;

function verdictOf(lines: string, name: string, key = one): string {
  return judgeKey(parseKnownHosts(lines, "kh").entries, name, key).verdict;
}

test.each<[string, string, string, string]>([
  ["the name", `a ${text(one)}`, "a", "known"],
  ["one of several names", `x,a,y ${text(one)}`, "a", "known"],
  ["a comment behind", `a ${text(one)} root@a # x`, "a", "known"],
  ["tabs and spaces", ` \ta\t${text(one).replace(" ", "\t ")}`, "a", "known"],
  ["line ends of Windows", `a ${text(one)}\r\nb ${text(two)}\r\n`, "a", "known"],
  ["capital letters in the file", `A.Example ${text(one)}`, "a.example", "known"],
  ["a port", `[a]:2222 ${text(one)}`, "[a]:2222", "known"],
  ["the port of another line", `a ${text(one)}`, "[a]:2222", "unknown"],
  ["a star", `*.example ${text(one)}`, "a.b.example", "known"],
  ["a star that must not be empty-handed", `*.example ${text(one)}`, "example", "unknown"],
  ["a question mark", `a? ${text(one)}`, "ab", "known"],
  ["a question mark for nothing", `a? ${text(one)}`, "a", "unknown"],
  ["a wildcard over ports", `[*.example]:22* ${text(one)}`, "[a.example]:2222", "known"],
  ["a dot is a dot", `a.b ${text(one)}`, "axb", "unknown"],
  ["a negated name", `*,!a ${text(one)}`, "a", "unknown"],
  ["a negated name first", `!a,* ${text(one)}`, "a", "unknown"],
  ["a negated other name", `*,!b ${text(one)}`, "a", "known"],
  ["only a negation", `!b ${text(one)}`, "a", "unknown"],
  ["another key", `a ${text(two)}`, "a", "changed"],
  ["another key, then the right one", `a ${text(two)}\na ${text(one)}`, "a", "known"],
  ["a key of another type only", `a ${text(blob(1, "ssh-rsa"))}`, "a", "changed"],
  ["a wildcard with another key", `* ${text(two)}`, "a", "changed"],
  ["revoked for all", `a ${text(one)}\n@revoked * ${text(one)}`, "a", "revoked"],
  ["revoked for another host", `a ${text(one)}\n@revoked b ${text(one)}`, "a", "known"],
  ["another key revoked", `a ${text(one)}\n@revoked * ${text(two)}`, "a", "known"],
  ["an authority only", `@cert-authority * ${text(one)}`, "a", "unknown"],
  ["a comment", `#a ${text(one)}`, "a", "unknown"],
  ["an unknown marker", `@good a ${text(one)}`, "a", "unknown"],
  ["a type that is not the key's", `a ssh-rsa ${one.toString("base64")}`, "a", "unknown"],
  ["the key cut short", `a ${text(one).slice(0, -4)}`, "a", "changed"],
  ["a key with a foreign character", `a ${text(one).replace(/.$/, "*")}`, "a", "unknown"],
  ["the old form of version 1", "a 1024 35 1234567890", "a", "unknown"],
  ["nothing", "", "a", "unknown"],
])("%s", (_, lines, name, verdict) => {
  expect(verdictOf(lines, name)).toBe(verdict);
});

test("lines that are not understood are named, not believed", () => {
  const { entries, flaws } = parseKnownHosts(`a\n\n@x a ${text(one)}\n|1|x|y ${text(one)}\n`, "kh");
  expect(entries).toEqual([]);
  expect(flaws.map(({ line }) => line)).toEqual([1, 3, 4]);
});

test("a host is asked first for the types it is known by", () => {
  const { entries } = parseKnownHosts(`a ${text(blob(1, "ssh-rsa"))}\n@revoked a ${text(two)}\n`, "kh");
  expect(knownTypes(entries, "a")).toEqual(["ssh-rsa"]);
  expect(knownTypes(entries, "b")).toEqual([]);
});

test("a host is called by its name in small letters, with its port where it is not 22", () => {
  expect([knownHostName("Host.Example", 22), knownHostName("::1", 2222)]).toEqual([
    "host.example",
    "[::1]:2222",
  ]);
});

describe("with ssh-keygen", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "escapement-known-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("names it has hashed are found, names we hash are found by it", () => {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, "key")]);
    const [type, base64] = readFileSync(join(folder, "key.pub"), "utf8").split(" ");
    const key = Buffer.from(base64!, "base64");
    const names = ["a.example", "[a.example]:2222", "10.0.0.1", "[::1]:22022"];
    const file = join(folder, "known_hosts");
    writeFileSync(file, names.map((name) => `${name} ${type} ${base64}\n`).join(""));
    execFileSync("ssh-keygen", ["-H", "-f", file], { stdio: "ignore" });
    const hashed = readFileSync(file, "utf8");
    expect(hashed).not.toContain("example");
    for (const name of names) expect(verdictOf(hashed, name, key)).toBe("known");
    expect(verdictOf(hashed, "b.example", key)).toBe("unknown");
    writeFileSync(file, `${knownHostsLine("ours.example", key, Buffer.alloc(20, 7))}\n`);
    expect(execFileSync("ssh-keygen", ["-F", "ours.example", "-f", file], { encoding: "utf8" })).toContain(
      "|1|",
    );
    const said = execFileSync("ssh-keygen", ["-lf", join(folder, "key.pub")], { encoding: "utf8" });
    expect(said).toContain(fingerprintOf(key));
  });

  test("adding keeps what is there, mends a missing line end, and adds nothing twice", async () => {
    const file = join(folder, "new", "known_hosts");
    expect(await addKnownHosts(file, "a", [one])).toBe(1);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, readFileSync(file, "utf8").trimEnd());
    expect(await addKnownHosts(file, "b", [one, two])).toBe(2);
    expect(await addKnownHosts(file, "b", [one, two])).toBe(0);
    expect(
      readFileSync(file, "utf8")
        .split("\n")
        .map((line) => line[0]),
    ).toEqual(["a", "b", "b", undefined]);
    const many = Array.from({ length: 20 }, (_, i) => addKnownHosts(file, `host-${i}`, [one]));
    await Promise.all(many);
    const { entries, flaws } = await readKnownHosts([file, join(folder, "nowhere")]);
    expect([entries.length, flaws.length]).toEqual([23, 0]);
  });

  test("where names are hashed, new ones are hashed, too", async () => {
    const file = join(folder, "hashed");
    writeFileSync(file, `${knownHostsLine("a", one, Buffer.alloc(20, 1))}\n`);
    await addKnownHosts(file, "b.example", [two]);
    expect(readFileSync(file, "utf8")).not.toContain("example");
    expect(verdictOf(readFileSync(file, "utf8"), "b.example", two)).toBe("known");
  });

  test("a file that cannot be written says so", async () => {
    await expect(addKnownHosts(join("/proc", "known_hosts"), "a", [one])).rejects.toMatchObject({
      code: "E_UNAVAILABLE",
      message: expect.stringMatching(/^\/proc\/known_hosts cannot be written: /),
    });
  });

  test("a file that is there and cannot be read is an error, since it may revoke a key", async () => {
    await expect(readKnownHosts([folder])).rejects.toMatchObject({ code: "E_FILE_UNREADABLE" });
  });
});

test("whatever is in the file, reading and judging it ends, and no key is known that is not in it", () => {
  const piece = fc.constantFrom(
    ...`a|*|!|,|?| |\n|\t|#|@revoked|@cert-authority|@|[a]:22|ssh-ed25519|ssh-rsa|AAAA|=`.split("|"),
    "|1|",
    "|",
    text(two),
    two.toString("base64"),
  );
  const words = fc.array(piece, { maxLength: 25 }).map((all) => all.join(""));
  fc.assert(
    fc.property(
      fc.oneof(words, fc.string({ unit: "binary", maxLength: 120 })),
      fc.constantFrom("a", "[a]:22"),
      (lines, name) => {
        expect(verdictOf(lines, name, one)).not.toBe("known");
        expect(verdictOf(lines, name, two)).toMatch(/^(known|unknown|changed|revoked)$/);
      },
    ),
    { numRuns: 5_000 },
  );
});

test("a pattern of many stars takes no long time", () => {
  expect(verdictOf(`${"*a".repeat(2_000)} ${text(one)}`, `${"a".repeat(250)}b`)).toBe("unknown");
});
