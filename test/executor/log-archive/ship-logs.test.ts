/** Old job logs go to the archive, whole, once, and only then leave the host. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { FolderArchive } from "../../../src/executor/log-archive/folder-archive.ts";
import { instantOfKey, logKey } from "../../../src/executor/log-archive/log-key.ts";
import { S3Archive, sign } from "../../../src/executor/log-archive/s3-archive.ts";
import { shipLogs } from "../../../src/executor/log-archive/ship-logs.ts";
import { runEscapement } from "../../support/processes.ts";

const day = 86_400_000;
const line = "2026-07-01T02:00:00.812Z 2026-07-01T02:00:00.000Z shard=3 attempt=1 out | 1200 rows\n";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "ship-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function log(root: string, name: string, text: string, ageDays: number): string {
  const file = join(root, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const at = new Date(Date.now() - ageDays * day);
  utimesSync(file, at, at);
  return file;
}

const before = () => new Date(Date.now() - 30 * day);
const archived = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();

test("rotated and old: shipped; rotated and young, or still written to: left alone", async () => {
  const from = folder();
  const to = folder();
  const old = log(from, "worker-1/finance/settlement.log.3", line.repeat(1000), 31);
  const young = log(from, "worker-1/finance/settlement.log.2", line, 29);
  const live = log(from, "worker-1/finance/settlement.log", line, 40);
  const foreign = log(from, "worker-1/finance/notes.txt", line, 40);
  const archive = new FolderArchive(to);
  const files = await shipLogs({ folder: from, host: "exec-1", archive, before: before() });
  expect(files).toEqual([
    expect.objectContaining({ file: old, outcome: "shipped", sizeBytes: line.length * 1000 }),
  ]);
  expect([old, young, live, foreign].map((file) => existsSync(file))).toEqual([false, true, true, true]);
  const [only, ...rest] = archived(to);
  expect(rest).toEqual([]);
  expect(only).toMatch(/^exec-1\/worker-1\/finance\/settlement\/20260701T020000Z-[0-9a-f]{12}\.log\.gz$/);
  expect(gunzipSync(readFileSync(join(to, only!))).toString()).toBe(line.repeat(1000));
});

test("shipped twice is stored once; a dry run changes nothing", async () => {
  const from = folder();
  const to = folder();
  const file = log(from, "w/d/a.log.1", line, 31);
  const archive = new FolderArchive(to);
  const ask = { folder: from, host: "h", archive, before: before() };
  expect(await shipLogs({ ...ask, dryRun: true })).toEqual([
    expect.objectContaining({ outcome: "would-ship" }),
  ]);
  expect([existsSync(file), archived(to)]).toEqual([true, []]);
  await shipLogs(ask);
  // As after a kill between storing and removing, and a rotation since.
  log(from, "w/d/a.log.2", line, 31);
  await shipLogs(ask);
  expect(archived(to)).toHaveLength(1);
  expect(readdirSync(join(from, "w/d"))).toEqual([]);
});

test("what the archive did not take stays on the host", async () => {
  const from = folder();
  const to = join(folder(), "file");
  writeFileSync(to, "not a folder");
  for (let i = 1; i <= 5; i += 1) log(from, `w/d/a.log.${i}`, `${line}${i}`, 31 + i);
  const files = await shipLogs({ folder: from, host: "h", archive: new FolderArchive(to), before: before() });
  // Three in a row, and the archive is taken to be away.
  expect(files.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed"]);
  expect(readdirSync(join(from, "w/d"))).toHaveLength(5);
});

test("a folder forgets what is older than asked, by the name and not by the file's own time", async () => {
  const to = folder();
  log(to, "h/w/d/a/20250101T000000Z-0123456789ab.log.gz", "x", 0);
  log(to, "h/w/d/a/20260701T000000Z-0123456789ab.log.gz", "x", 900);
  log(to, "h/README", "x", 900);
  expect(await new FolderArchive(to).prune(new Date("2026-01-01T00:00:00Z"))).toBe(1);
  expect(archived(to)).toEqual(["h/README", "h/w/d/a/20260701T000000Z-0123456789ab.log.gz"]);
});

test("the name in the archive", () => {
  const at = new Date("2026-07-01T02:00:00.812Z");
  const key = logKey("exec-1", "worker-1/finance", "settlement", at, "abcdef0123456789");
  expect(key).toBe("exec-1/worker-1/finance/settlement/20260701T020000Z-abcdef012345.log.gz");
  expect(instantOfKey(key.split("/").pop()!)).toEqual(new Date("2026-07-01T02:00:00Z"));
  expect(instantOfKey("20260701T020000Z.log")).toBeUndefined();
});

test("the signature of the example in the documentation of S3", () => {
  // "Example: PUT Object" of the Signature Version 4 pages, with its published key pair.
  const authorization = sign(
    {
      region: "us-east-1",
      accessKeyId: `AKIA${"IOSFODNN7EXAMPLE"}`,
      secretAccessKey: ["wJalrXUtnFEMI", "K7MDENG", "bPxRfiCYEXAMPLEKEY"].join("/"),
    },
    "PUT",
    "/test%24file.text",
    {
      date: "Fri, 24 May 2013 00:00:00 GMT",
      host: "examplebucket.s3.amazonaws.com",
      "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
      "x-amz-date": "20130524T000000Z",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
    "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
  );
  expect(authorization).toContain(
    "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  );
});

/** Keeps what is put; `lose`: accepts and forgets. */
async function objectStore(behaviour: "keep" | "lose" | "refuse") {
  const objects = new Map<string, { body: Buffer; digest: string }>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const digest = String(request.headers["x-amz-meta-sha256"] ?? "");
      const payload = createHash("sha256").update(body).digest("hex");
      const signed = /^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/eu-1\/s3\/aws4_request/.test(
        String(request.headers.authorization),
      );
      if (behaviour === "refuse" || !signed || request.headers["x-amz-content-sha256"] !== payload) {
        response.writeHead(403).end("<Error><Code>SignatureDoesNotMatch</Code></Error>");
      } else if (request.method === "PUT") {
        if (behaviour === "keep") objects.set(request.url!, { body, digest });
        response.writeHead(200).end();
      } else {
        const found = objects.get(request.url!);
        if (!found) response.writeHead(404).end();
        else
          response
            .writeHead(200, { "content-length": found.body.length, "x-amz-meta-sha256": found.digest })
            .end();
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => new Promise<void>((done) => server.close(() => done())));
  const { port } = server.address() as AddressInfo;
  const archive = new S3Archive({
    endpoint: `http://127.0.0.1:${port}`,
    region: "eu-1",
    bucket: "job-logs",
    prefix: "prod",
    accessKeyId: "key",
    secretAccessKey: "secret",
  });
  return { archive, objects };
}

test.each([
  ["keep", "shipped", undefined],
  ["lose", "failed", /status 404: it was taken and is not there/],
  ["refuse", "failed", /status 403: SignatureDoesNotMatch/],
] as const)("an object store that would %s it: %s", async (behaviour, outcome, reason) => {
  const from = folder();
  const file = log(from, "w/d/a b.log.1", line, 31);
  const { archive, objects } = await objectStore(behaviour);
  const [result] = await shipLogs({ folder: from, host: "h", archive, before: before() });
  expect(result).toMatchObject({ outcome, ...(reason ? { reason: expect.stringMatching(reason) } : {}) });
  expect(existsSync(file)).toBe(outcome === "failed");
  if (behaviour === "keep") {
    const [path, { body }] = [...objects][0]!;
    expect(path).toMatch(/^\/job-logs\/prod\/h\/w\/d\/a%20b\/20260701T020000Z-/);
    expect(gunzipSync(body).toString()).toBe(line);
  }
});

test("the command: JSON, exit codes, and no half of an object store", async () => {
  const from = folder();
  const to = folder();
  log(from, "w/d/a.log.1", line, 31);
  const done = await runEscapement([
    "logs",
    "ship",
    "--from",
    from,
    "--to",
    to,
    "--json",
    "--keep-months",
    "12",
  ]);
  expect([done.code, JSON.parse(done.stdout)]).toEqual([
    0,
    expect.objectContaining({
      archive: to,
      pruned: 0,
      files: [expect.objectContaining({ outcome: "shipped" })],
    }),
  ]);
  expect((await runEscapement(["logs", "ship", "--from", join(from, "none"), "--to", to])).code).toBe(65);
  expect((await runEscapement(["logs", "ship", "--from", from, "--to", "s3://bucket"])).code).toBe(64);
});
