/** A release on a host: whole or not at all, uploaded once, and there is a way back. */

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { deploy, rollbackDeployment } from "../../../src/provision/deploy/deploy.ts";
import { activateScript } from "../../../src/provision/deploy/host-scripts.ts";
import { buildRelease, type Release } from "../../../src/provision/deploy/release.ts";
import { shareArchive } from "../../../src/provision/deploy/share-archive.ts";
import { type FolderHost, folderHost } from "./folder-host.ts";

/** A program so small that every test can have its own; "node" is a shell that answers for it. */
async function release(text: string, node = '#!/bin/sh\nhead -n 1 "$1"\n'): Promise<Release> {
  const folder = mkdtempSync(join(tmpdir(), "escapement-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "bundle"), `${text}\n`);
  writeFileSync(join(folder, "node"), node);
  return buildRelease({
    productVersion: "1.2.3",
    bundleFile: join(folder, "bundle"),
    nodeFile: join(folder, "node"),
    arch: process.arch,
  });
}

test("the screens go along where there are any, and are part of what tells releases apart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "escapement-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = { bundleFile: join(folder, "bundle"), nodeFile: join(folder, "node") };
  for (const file of Object.values(files)) writeFileSync(file, "#!/bin/sh\n");
  const screensFile = join(folder, "screens");
  writeFileSync(screensFile, "y\n");
  const plain = await buildRelease({ productVersion: "1", ...files, arch: process.arch });
  const whole = await buildRelease({ productVersion: "1", ...files, screensFile, arch: process.arch });
  expect(whole.version).not.toBe(plain.version);
  const host = folderHost();
  await deploy(host, whole);
  expect(host.uploads).toEqual(["escapement.mjs", "node", "ui.mjs", "manifest.json"]);
  expect(readFileSync(join(host.root, "versions", whole.version, "ui.mjs"), "utf8")).toBe("y\n");
});

test("profiles, playbooks and drills go along, and are unpacked beside the program", async () => {
  const folder = mkdtempSync(join(tmpdir(), "escapement-release-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = { bundleFile: join(folder, "bundle"), nodeFile: join(folder, "node") };
  for (const file of Object.values(files)) writeFileSync(file, "#!/bin/sh\n");
  const share = shareArchive(".", ["chaos", "playbooks", "profiles"]);
  expect(Buffer.compare(share, shareArchive(".", ["chaos", "playbooks", "profiles"]))).toBe(0);
  const plain = await buildRelease({ productVersion: "1", ...files, arch: process.arch });
  const whole = await buildRelease({ productVersion: "1", ...files, share, arch: process.arch });
  expect(whole.version).not.toBe(plain.version);
  const host = folderHost();
  await deploy(host, whole);
  const there = join(host.root, "versions", whole.version);
  for (const name of ["chaos", "playbooks", "profiles"]) {
    expect(
      execFileSync("sh", ["-c", `diff -r "$0" "$1"`, name, join(there, name)], { encoding: "utf8" }),
    ).toBe("");
    expect(statSync(join(there, name)).mode & 0o777).toBe(0o755);
  }
  expect(await deploy(host, whole)).toMatchObject({ changed: false });
  writeFileSync(join(there, "share.tar"), "changed");
  expect((await deploy(host, whole)).uploadedBytes).toBeGreaterThan(0);
});

const linkOf = (host: FolderHost, name: string) => readlinkSync(join(host.root, name)).split("/").at(-1);
const versionsOf = (host: FolderHost) => readdirSync(join(host.root, "versions")).sort();

test("a fresh host gets all files, the wrapper runs what is current, and a second time nothing happens", async () => {
  const host = folderHost();
  const one = await release("one");
  expect(await deploy(host, one)).toMatchObject({ changed: true, version: one.version, previous: undefined });
  expect(host.uploads).toEqual(["escapement.mjs", "node", "manifest.json"]);
  expect(linkOf(host, "current")).toBe(one.version);
  expect(execFileSync(host.wrapper, { encoding: "utf8" })).toBe("one\n");
  const folder = join(host.root, "versions", one.version);
  expect(statSync(join(folder, "node")).mode & 0o777).toBe(0o755);
  expect(statSync(join(folder, "manifest.json")).mode & 0o777).toBe(0o644);
  if (process.getuid?.() === 0) expect(statSync(folder).uid).toBe(0);

  expect(await deploy(host, one)).toMatchObject({ changed: false, uploadedBytes: 0 });
  expect(host.uploads).toHaveLength(3);
  expect(versionsOf(host)).toEqual([one.version]);
});

test("an upgrade uploads only what is new, keeps three versions, and rolls back to the one before", async () => {
  const host = folderHost();
  const releases: Release[] = [];
  for (const text of ["one", "two", "three", "four", "five"]) {
    releases.push(await release(text));
    await deploy(host, releases.at(-1)!);
  }
  // Node is the same in all of them.
  expect(host.uploads.filter((name) => name === "node")).toHaveLength(1);
  expect(versionsOf(host)).toEqual(
    releases
      .slice(2)
      .map((one) => one.version)
      .sort(),
  );
  const [four, five] = [releases[3]!, releases[4]!];
  expect(await rollbackDeployment(host)).toEqual({
    host: "host-1",
    version: four.version,
    previous: five.version,
  });
  expect(execFileSync(host.wrapper, { encoding: "utf8" })).toBe("four\n");
  expect(await rollbackDeployment(host)).toMatchObject({ version: five.version });
  // Back to it again by deploying: it is here, nothing is uploaded.
  const uploads = host.uploads.length;
  expect(await deploy(host, four)).toMatchObject({ changed: true, uploadedBytes: 0, previous: five.version });
  expect(host.uploads).toHaveLength(uploads);
});

test("an earlier version that is not whole any more is no way back", async () => {
  const host = folderHost();
  const [one, two] = [await release("one"), await release("two")];
  await deploy(host, one);
  await expect(rollbackDeployment(host)).rejects.toMatchObject({ code: "E_REFUSED" });
  await deploy(host, two);
  writeFileSync(join(host.root, "versions", one.version, "escapement.mjs"), "changed\n");
  await expect(rollbackDeployment(host)).rejects.toThrow(/not whole/);
  expect(linkOf(host, "current")).toBe(two.version);
  // Deployed again, it is mended.
  expect(await deploy(host, one)).toMatchObject({ changed: true });
  expect(execFileSync(host.wrapper, { encoding: "utf8" })).toBe("one\n");
});

test("files that arrive changed are refused by the host, and what ran before runs on", async () => {
  const host = folderHost();
  const [one, two] = [await release("one"), await release("two")];
  await deploy(host, one);
  host.corrupt = (name, bytes) =>
    name === "escapement.mjs" ? Buffer.concat([bytes, Buffer.from("x")]) : bytes;
  await expect(deploy(host, two)).rejects.toMatchObject({ code: "E_REFUSED", at: "host-1" });
  expect(linkOf(host, "current")).toBe(one.version);
  expect(versionsOf(host)).toEqual([one.version]);
});

test("another architecture is refused before anything is uploaded", async () => {
  const host = folderHost();
  const foreign = { ...(await release("one")), machine: "sparc64" };
  await expect(deploy(host, foreign)).rejects.toThrow(/is a \S+ machine, this release holds .* sparc64/);
  expect(host.uploads).toEqual([]);
  expect(existsSync(join(host.root, "current"))).toBe(false);
});

test("a program that does not start on the host is refused", async () => {
  const host = folderHost();
  const one = await release("one");
  await deploy(host, one);
  const broken = await release("two", "#!/bin/sh\necho 'GLIBC_2.99 not found' >&2\nexit 1\n");
  await expect(deploy(host, broken)).rejects.toThrow(/does not run on this host: GLIBC_2.99 not found/);
  expect(linkOf(host, "current")).toBe(one.version);
});

test("broken off at every step: the host runs the old version or the new one, and the next try ends it", async () => {
  const [one, two] = [await release("one"), await release("two", '#!/bin/sh\nhead -n 1 "$1" # other\n')];
  const steps: string[] = [];
  for (let at = 0; at < 20; at++) {
    const host = folderHost();
    await deploy(host, one);
    let count = -1;
    host.interfere = (what) => {
      count += 1;
      if (at === 0) steps.push(what.split(" ")[0]!);
      if (count === at) throw new Error("connection lost");
    };
    const broken = await deploy(host, two).then(
      () => false,
      () => true,
    );
    host.interfere = () => {};
    if (!broken) {
      expect(at).toBe(5);
      return;
    }
    expect(execFileSync(host.wrapper, { encoding: "utf8" })).toBe("one\n");
    const before = host.uploads.length;
    await deploy(host, two);
    // What had arrived whole is not sent again, but for the small manifest.
    expect(new Set(host.uploads.slice(3)).size).toBe(3);
    expect(host.uploads.slice(before)).not.toContain(at >= 2 ? "escapement.mjs" : "");
    expect(execFileSync(host.wrapper, { encoding: "utf8" })).toBe("two\n");
    expect(versionsOf(host)).toEqual([one.version, two.version].sort());
  }
  throw new Error("it never ended");
});

test("an upload of another version that was cut short is cleared away", async () => {
  const host = folderHost();
  const [one, two] = [await release("one"), await release("two")];
  host.interfere = (what) => {
    if (what === "upload manifest.json") throw new Error("connection lost");
  };
  await expect(deploy(host, one)).rejects.toThrow("connection lost");
  host.interfere = () => {};
  expect(versionsOf(host)).toEqual([`.staging-${one.version}`]);
  await deploy(host, two);
  expect(versionsOf(host)).toEqual([two.version]);
});

test("noise that a host prints is not taken for an answer", async () => {
  const host = folderHost();
  const exec = host.exec.bind(host);
  Object.assign(host, {
    exec: async (request: Parameters<typeof exec>[0]) => {
      const result = await exec(request);
      return { ...result, stdout: `Welcome!\nmachine=toaster\n${result.stdout}\nbye` };
    },
  });
  expect(await deploy(host, await release("one"))).toMatchObject({ changed: true });
  Object.assign(host, {
    exec: async (request: Parameters<typeof exec>[0]) => {
      const result = await exec(request);
      return { ...result, stdout: result.stdout.replace("escapement:end=ok", "") };
    },
  });
  await expect(deploy(host, await release("two"))).rejects.toMatchObject({ code: "E_UNKNOWN" });
});

test("the manifest names the sums of what is beside it", async () => {
  const one = await release("one");
  const manifest = one.files.find((file) => file.name === "manifest.json")!;
  const text = new TextDecoder().decode((manifest.content as { bytes: Uint8Array }).bytes);
  expect(JSON.parse(text)).toMatchObject({
    version: one.version,
    productVersion: "1.2.3",
    files: { "escapement.mjs": createHash("sha256").update("one\n").digest("hex") },
  });
  await expect(
    buildRelease({ productVersion: "1", bundleFile: "/none", nodeFile: "/none", arch: process.arch }),
  ).rejects.toMatchObject({ code: "E_FILE_UNREADABLE" });
});

test("nobody hears the host switch any more: it ends what it began, the command included", async () => {
  const host = folderHost();
  const one = await release("one");
  host.interfere = (what) => {
    if (what.startsWith("exec") && host.uploads.length === 3) throw new Error("cut");
  };
  await expect(deploy(host, one)).rejects.toThrow("cut");
  spawnSync("sh", ["-c", 'sh -s -- "$1" 3 | true', "sh", one.version], {
    input: activateScript,
    env: { ...process.env, ESCAPEMENT_ROOT: host.root, ESCAPEMENT_WRAPPER: host.wrapper },
  });
  expect(linkOf(host, "current")).toBe(one.version);
  expect(execFileSync(host.wrapper, { encoding: "utf8" })).toBe("one\n");
});
