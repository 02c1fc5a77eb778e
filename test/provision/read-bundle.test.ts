import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseAnswer } from "../../src/provision/bundle/frame.ts";
import { hostPaths, type Probe } from "../../src/provision/bundle/probe.ts";
import { readBundle } from "../../src/provision/bundle/read-bundle.ts";
import { Reading } from "../../src/provision/bundle/reading.ts";
import { localShell } from "./support/local-remote.ts";

let root = "";
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "escapement-read-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function read(probes: readonly Probe[], extra?: string): Promise<Reading> {
  const paths = hostPaths(root);
  const path = join(root, "bin");
  const { script, nonce } = readBundle(probes, { paths, path, ...(extra !== undefined && { extra }) });
  const { stdout, stderr } = await localShell().exec({
    argv: ["sh", "-s"],
    stdin: script,
    deadlineMs: 20_000,
  });
  expect(stderr).toBe("");
  const answer = parseAnswer(stdout, nonce);
  if ("lost" in answer) throw new Error(`${answer.lost}\n${stdout}`);
  return new Reading(answer.facts, paths);
}

const sum = (text: string) => createHash("sha256").update(text).digest("hex");

test("files, directories, links and what is not there", async () => {
  writeFileSync(join(root, "same"), "a\n");
  writeFileSync(join(root, "other"), 'quote " back \\ tab \t end\n');
  writeFileSync(join(root, "it's here"), "");
  chmodSync(join(root, "same"), 0o640);
  mkdirSync(join(root, "folder"));
  symlinkSync("/usr/share/zoneinfo/Etc/UTC", join(root, "link"));
  const reading = await read([
    { kind: "path", path: "/same", wanted: sum("a\n") },
    { kind: "path", path: "/other", wanted: sum("b\n") },
    { kind: "path", path: "/it's here", wanted: "secret" },
    { kind: "path", path: "/folder" },
    { kind: "path", path: "/link", wanted: sum("c") },
    { kind: "path", path: "/none", wanted: sum("d") },
    { kind: "path", path: "/same/below", wanted: sum("d") },
  ]);
  expect(reading.path("/same")).toMatchObject({ type: "file", mode: 0o640, owner: "root", group: "root" });
  expect(reading.sum("/same")).toBe(sum("a\n"));
  expect(reading.content("/same")).toBeUndefined();
  expect(reading.content("/other")).toBe('quote " back \\ tab \t end\n');
  expect(reading.sum("/it's here")).toBe(sum(""));
  expect(reading.content("/it's here")).toBeUndefined();
  expect(reading.path("/folder")).toMatchObject({ type: "directory" });
  expect(reading.path("/link")).toMatchObject({ type: "link", target: "/usr/share/zoneinfo/Etc/UTC" });
  expect(reading.path("/none")).toBe("absent");
  expect(reading.path("/same/below")).toBe("absent");
  expect(reading.path("/never-asked")).toHaveProperty("unknown");
});

test("packages, users, groups", async () => {
  const reading = await read([
    { kind: "package", name: "dpkg" },
    { kind: "package", name: "no-such-package" },
    { kind: "user", name: "root" },
    { kind: "user", name: "no-such-user" },
    { kind: "group", name: "daemon" },
    { kind: "group", name: "no-such-group" },
  ]);
  expect(reading.package("dpkg")).toMatchObject({
    status: "installed",
    version: expect.stringMatching(/^1\./),
  });
  expect(reading.package("no-such-package")).toBe("absent");
  expect(reading.user("root")).toMatchObject({
    uid: 0,
    group: "root",
    home: expect.stringContaining("root"),
  });
  expect(reading.user("no-such-user")).toBe("absent");
  expect(reading.group("daemon")).toEqual({ gid: 1 });
  expect(reading.group("no-such-group")).toBe("absent");
});

test("a program that fails leaves unknown, not absent", async () => {
  mkdirSync(join(root, "bin"));
  for (const name of ["systemctl", "sshd", "nft"])
    writeFileSync(join(root, "bin", name), "#!/bin/sh\necho broken >&2\nexit 1\n", { mode: 0o755 });
  const reading = await read([
    { kind: "unit", name: "ssh.service" },
    { kind: "sshd", name: "PermitRootLogin" },
    { kind: "nft-table", table: "escapement" },
  ]);
  for (const fact of [
    reading.unit("ssh.service"),
    reading.sshd("PermitRootLogin"),
    reading.table("escapement"),
  ])
    expect(fact).toHaveProperty("unknown");
});

test("kernel settings, with and without", async () => {
  mkdirSync(join(root, "proc/sys/net/ipv4/conf/eth0.100"), { recursive: true });
  writeFileSync(join(root, "proc/sys/net/ipv4/tcp_rmem"), "4096\t131072\t6291456\n");
  writeFileSync(join(root, "proc/sys/net/ipv4/conf/eth0.100/forwarding"), "1\n");
  const reading = await read([
    { kind: "sysctl", key: "net.ipv4.tcp_rmem" },
    { kind: "sysctl", key: "net.ipv4.conf.eth0/100.forwarding" },
    { kind: "sysctl", key: "vm.none" },
  ]);
  expect(reading.sysctl("net.ipv4.tcp_rmem")).toBe("4096 131072 6291456");
  expect(reading.sysctl("net.ipv4.conf.eth0/100.forwarding")).toBe("1");
  expect(reading.sysctl("vm.none")).toBe("absent");
});

test("an extra script's output comes back in the same trip", async () => {
  const reading = await read([{ kind: "path", path: "/" }], `echo "it's" 'two'\necho lines`);
  const extra = reading.lines.find((line) => line.startsWith("extra\t"))!.slice("extra\t".length);
  expect(Buffer.from(extra, "base64").toString()).toBe("it's two\nlines\n");
});

test("a bundle cut short anywhere runs nothing", async () => {
  const { script, nonce } = readBundle([{ kind: "path", path: "/" }], { paths: hostPaths(root) });
  for (const part of [0.2, 0.5, 0.9, 0.99]) {
    const stdin = script.slice(0, Math.floor(script.length * part));
    const { stdout } = await localShell().exec({ argv: ["sh", "-s"], stdin, deadlineMs: 20_000 });
    expect(parseAnswer(stdout, nonce)).toHaveProperty("lost");
    expect(stdout).toBe("");
  }
});
