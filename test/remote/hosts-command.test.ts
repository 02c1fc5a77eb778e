/** `escapement hosts` as a program: trust asks before it writes, ping has a line for every host, Ctrl-C ends it. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runEscapement, startEscapement, startProcess } from "../support/processes.ts";
import { freePort, noSshd, SshServer } from "./ssh-server.ts";

const program = fileURLToPath(new URL("../../bin/escapement.mjs", import.meta.url));

describe.skipIf(noSshd)("hosts", () => {
  let server: SshServer;
  let silent: Server;
  let inventory: string;
  let known: string;
  beforeAll(async () => {
    server = await SshServer.start({ keyTypes: ["ed25519", "rsa"] });
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    inventory = join(server.folder, "inventory.yaml");
    known = join(server.folder, "trusted", "known_hosts");
    writeFileSync(
      inventory,
      `apiVersion: escapement/v1
kind: Inventory
metadata: { name: site }
spec:
  defaults: { user: root, identityFile: client, knownHostsFile: trusted/known_hosts, connectTimeout: 10m }
  hosts:
    - { name: good, address: 127.0.0.1, port: ${server.port}, profile: scheduler, failureDomain: rack-1 }
    - { name: gone, address: 127.0.0.1, port: ${await freePort()} }
    - { name: silent, address: 127.0.0.1, port: ${(silent.address() as { port: number }).port} }
    - { name: here, address: 127.0.0.1, connection: local }
`,
    );
  });
  afterAll(async () => {
    silent?.close();
    await server?.stop();
  });
  beforeEach(() => rmSync(known, { force: true }));
  const hosts = (...args: string[]) =>
    runEscapement(["hosts", ...args], { environment: { ESCAPEMENT_INVENTORY: inventory } });
  const fingerprint = (type: "ed25519" | "rsa") =>
    execFileSync("ssh-keygen", ["-lf", join(server.folder, `host_${type}.pub`)], { encoding: "utf8" }).split(
      " ",
    )[1]!;

  test("list connects to nothing", async () => {
    const { stdout, code } = await hosts("list", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).hosts).toMatchObject([
      { name: "good", profile: "scheduler", failureDomain: "rack-1", user: "root", port: server.port },
      { name: "gone" },
      { name: "silent" },
      { name: "here", connection: "local" },
    ]);
  });

  test("a host that is not in the inventory is told with the nearest name", async () => {
    const { stderr, code } = await hosts("ping", "goood");
    expect([code, stderr]).toEqual([
      64,
      expect.stringMatching(/E_HOST_UNKNOWN.*goood[\s\S]*did you mean good\?/),
    ]);
  });

  test("trust without a terminal and without a fingerprint writes nothing", async () => {
    const { stderr, code } = await hosts("trust", "good");
    expect(code).toBe(4);
    expect(stderr).toContain(fingerprint("ed25519"));
    expect(existsSync(known)).toBe(false);
  });

  test("trust with another fingerprint writes nothing", async () => {
    const { stderr, code } = await hosts("trust", "good", "--fingerprint", "SHA256:AAAA");
    expect([code, stderr]).toEqual([4, expect.stringMatching(/good does not show SHA256:AAAA/)]);
    expect(existsSync(known)).toBe(false);
  });

  test("trust with the fingerprint writes that key alone, once, and logs in to nothing", async () => {
    const mark = server.log.length;
    const { stdout, code } = await hosts("trust", "good", "--fingerprint", fingerprint("ed25519"), "--json");
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { added: 1, keys: [{ type: "ssh-ed25519" }] }]);
    expect(server.log.slice(mark)).not.toMatch(/userauth-request/);
    expect(readFileSync(known, "utf8")).toBe(`[127.0.0.1]:${server.port} ${server.publicKey("ed25519")}\n`);
    const again = await hosts("trust", "good", "--fingerprint", fingerprint("ed25519"), "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ added: 0 });
  });

  test("trust of a host whose keys are all known asks nobody, and says so", async () => {
    for (const type of ["ed25519", "rsa"] as const)
      await hosts("trust", "good", "--fingerprint", fingerprint(type));
    const { stdout, code } = await hosts("trust", "good");
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`known already: ssh-ed25519 ${fingerprint("ed25519")}`),
    ]);
  });

  test("a machine that was replaced: refused with the way out, and --replace takes the old keys out", async () => {
    execFileSync("mkdir", ["-p", join(server.folder, "trusted")]);
    const host = `[127.0.0.1]:${server.port}`;
    const old = (name: string) =>
      readFileSync(`${server.makeKey(name)}.pub`, "utf8")
        .split(" ", 2)
        .join(" ");
    const [first, second] = [old("old-1"), old("old-2")];
    const before = `# mine\n${host} ${first}\nother,${host} ${second}\n@revoked * ${second}\n`;
    writeFileSync(known, before, { mode: 0o640 });
    const refused = await hosts("ping", "good");
    expect([refused.code, refused.stderr]).toEqual([
      69,
      expect.stringContaining("hosts trust good --replace"),
    ]);
    const wrong = await hosts("trust", "good", "--replace", "--fingerprint", "SHA256:AAAA");
    expect([wrong.code, readFileSync(known, "utf8")]).toEqual([4, before]);
    const nobody = await hosts("trust", "good", "--replace");
    expect([nobody.code, readFileSync(known, "utf8")]).toEqual([4, before]);

    const args = ["trust", "good", "--replace", "--fingerprint", fingerprint("ed25519"), "--json"];
    const { stdout, code } = await hosts(...args);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { added: 1, removed: 2 }]);
    const after = `# mine\nother ${second}\n@revoked * ${second}\n${host} ${server.publicKey("ed25519")}\n`;
    expect([readFileSync(known, "utf8"), statSync(known).mode & 0o777]).toEqual([after, 0o640]);
    expect((await hosts("ping", "good")).code).toBe(0);
    expect(JSON.parse((await hosts(...args)).stdout)).toMatchObject({ added: 0, removed: 0 });
    expect(readFileSync(known, "utf8")).toBe(after);
  });

  test("--replace leaves a line alone that names the host by a pattern", async () => {
    execFileSync("mkdir", ["-p", join(server.folder, "trusted")]);
    const other = readFileSync(join(server.folder, "client.pub"), "utf8").split(" ", 2).join(" ");
    writeFileSync(known, `[127.0.0.*]:${server.port} ${other}\n`);
    const args = ["trust", "good", "--replace", "--fingerprint", fingerprint("ed25519")];
    const { stderr, code } = await hosts(...args);
    expect([code, stderr]).toEqual([4, expect.stringMatching(/known_hosts:1 .*by a pattern/)]);
    expect(readFileSync(known, "utf8")).toBe(`[127.0.0.*]:${server.port} ${other}\n`);
  });

  test("without --replace trust never replaces a key", async () => {
    execFileSync("mkdir", ["-p", join(server.folder, "trusted")]);
    const other = readFileSync(join(server.folder, "client.pub"), "utf8").split(" ").slice(0, 2).join(" ");
    writeFileSync(known, `[127.0.0.1]:${server.port} ${other}\n`);
    const { stderr, code } = await hosts("trust", "good", "--fingerprint", fingerprint("ed25519"));
    expect([code, stderr]).toEqual([4, expect.stringMatching(/E_HOST_KEY_CHANGED[\s\S]*known_hosts:1/)]);
    expect(readFileSync(known, "utf8")).not.toContain(server.publicKey("ed25519"));
  });

  test.each([
    ["yes", 0, 2],
    ["y", 4, 0],
    ["", 4, 0],
  ])("trust at a terminal, answered with %j", async (answer, exitCode, lines) => {
    const command = `${process.execPath} ${program} hosts trust good -i ${inventory}`;
    const started = await startProcess(["script", "-qec", command, "/dev/null"], { input: `${answer}\n` });
    const { code } = await started.exited;
    expect([code, started.stdout()]).toEqual([exitCode, expect.stringContaining(fingerprint("rsa"))]);
    const written = existsSync(known) ? readFileSync(known, "utf8").trim().split("\n").length : 0;
    expect(written).toBe(lines);
  });

  test("ping has a result for every host, and one does not hold up another", async () => {
    await hosts("trust", "good", "--fingerprint", fingerprint("ed25519"));
    const { stdout, code } = await hosts("ping", "good", "gone", "here", "--json");
    expect(code).toBe(3);
    expect(JSON.parse(stdout).hosts).toMatchObject([
      { host: "good", status: "ok", value: { hostName: expect.any(String) } },
      { host: "gone", status: "unreachable", code: "E_HOST_UNREACHABLE" },
      { host: "here", status: "ok" },
    ]);
    expect((await hosts("ping", "gone")).code).toBe(69);
  });

  test("Ctrl-C ends a ping that waits for a host, with what is known", async () => {
    const started = await startEscapement(["hosts", "ping", "silent", "here", "--json", "-i", inventory]);
    await new Promise<void>((resolve) => silent.once("connection", () => resolve()));
    started.kill("SIGINT");
    const { code } = await started.exited;
    expect(code).toBe(130);
    expect(JSON.parse(started.stdout()).hosts[0]).toMatchObject({ host: "silent", status: "skipped" });
  });
});
