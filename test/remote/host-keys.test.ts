/** A host whose key is not the known one is offered nothing: the server's own log is the witness. */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isEscapementError } from "../../src/base/errors.ts";
import { fingerprintOf } from "../../src/remote/host-key.ts";
import type { RemoteTarget } from "../../src/remote/remote.ts";
import { type SshOptions, sshConnector } from "../../src/remote/ssh-remote.ts";
import { until } from "../support/until.ts";
import { freePort, noSshd, SshServer } from "./ssh-server.ts";

const deadlineMs = 20_000;
const blobOf = (line: string) => Buffer.from(line.split(" ")[1]!, "base64");

describe.skipIf(noSshd)("keys of hosts and of users", () => {
  let server: SshServer;
  let other: string;
  beforeAll(async () => {
    server = await SshServer.start({ keyTypes: ["ed25519", "ecdsa", "rsa"] });
    other = readFileSync(`${server.makeKey("other")}.pub`, "utf8")
      .split(" ")
      .slice(0, 2)
      .join(" ");
  });
  afterAll(() => server?.stop());

  const name = () => `[127.0.0.1]:${server.port}`;
  const own = (type?: "ed25519" | "ecdsa" | "rsa") => server.publicKey(type);

  async function tryOpen(change: Partial<RemoteTarget> = {}, options: SshOptions = {}) {
    const mark = server.log.length;
    const connect = sshConnector({ sshConfigFile: server.emptyConfig, agentSocket: null, ...options });
    const outcome = await connect(server.target(change)).then(
      async (remote) => {
        const { stdout } = await remote.exec({ argv: ["echo", "in"], deadlineMs });
        await remote.close();
        return stdout.trim();
      },
      (error: unknown) => {
        if (!isEscapementError(error)) throw error;
        return `${error.code}: ${error.message}; ${error.hint}`;
      },
    );
    await until(() => /Connection (closed|reset)|Disconnected|disconnect/.test(server.log.slice(mark)), {
      what: "the server to see the end",
    });
    const log = server.log.slice(mark);
    return { outcome, offered: /userauth-request/.test(log) };
  }
  const knowing = (text: string) => {
    server.trust(text);
    return tryOpen();
  };

  test("a known key lets in, and the log shows what an offer looks like", async () => {
    expect(await knowing(`${name()} ${own()}\n`)).toEqual({ outcome: "in", offered: true });
  });

  test.each<[string, () => string, RegExp]>([
    [
      "no line at all",
      () => "",
      /^E_HOST_KEY_UNKNOWN: .*ed25519 key that no known_hosts file has: SHA256:.*hosts trust testhost/,
    ],
    ["a line for another port", () => `127.0.0.1 ${own()}\n`, /^E_HOST_KEY_UNKNOWN/],
    ["a line for another host", () => `[127.0.0.2]:${server.port} ${own()}\n`, /^E_HOST_KEY_UNKNOWN/],
    ["another key", () => `# one\n${name()} ${other}\n`, /^E_HOST_KEY_CHANGED/],
    [
      "another key before a wildcard with the right one left out",
      () => `*,!${name()} ${own()}\n`,
      /^E_HOST_KEY_UNKNOWN/,
    ],
    [
      "a revoked key",
      () => `${name()} ${own()}\n@revoked * ${own()}\n`,
      /^E_HOST_KEY_REVOKED: .*known_hosts:2/,
    ],
    [
      "a certificate authority",
      () => `@cert-authority ${name()} ${own()}\n`,
      /^E_HOST_KEY_UNKNOWN: .*known_hosts:1 names a certificate authority, which is not supported/,
    ],
    [
      "another key and a certificate authority",
      () => `${name()} ${other}\n@cert-authority * ${own()}\n`,
      /^E_HOST_KEY_CHANGED: .*certificate authority at \S+known_hosts:2 is not asked/,
    ],
    ["a line cut off", () => `${name()} ${own().slice(0, -10)}\n`, /^E_HOST_KEY_(UNKNOWN|CHANGED)/],
    ["an unknown marker", () => `@trusted ${name()} ${own()}\n`, /^E_HOST_KEY_UNKNOWN/],
  ])("%s: refused, and nothing was offered", async (_, text, message) => {
    const { outcome, offered } = await knowing(text());
    expect(outcome).toMatch(message);
    expect(offered).toBe(false);
  });

  test("a changed key is told with both fingerprints and the place of the old one", async () => {
    const { outcome } = await knowing(`# one\n# two\n${name()} ${other}\n`);
    expect(outcome).toContain(`ssh-ed25519 ${fingerprintOf(blobOf(own()))}`);
    expect(outcome).toContain(`ssh-ed25519 ${fingerprintOf(blobOf(other))} at ${server.knownHosts}:3`);
  });

  test("fingerprints are those of ssh-keygen", () => {
    const said = execFileSync("ssh-keygen", ["-lf", join(server.folder, "host_rsa.pub")], {
      encoding: "utf8",
    });
    expect(said.split(" ")[1]).toBe(fingerprintOf(blobOf(own("rsa"))));
  });

  test.each(["ed25519", "ecdsa", "rsa"] as const)(
    "a host known by its %s key is asked for that one",
    async (type) => {
      expect(await knowing(`${name()} ${own(type)}\n`)).toEqual({ outcome: "in", offered: true });
    },
  );

  test("names hashed by ssh-keygen are found", async () => {
    server.trust(`${name()} ${own()}\n`);
    execFileSync("ssh-keygen", ["-H", "-f", server.knownHosts], { stdio: "ignore" });
    expect(readFileSync(server.knownHosts, "utf8")).toMatch(/^\|1\|/);
    expect((await tryOpen()).outcome).toBe("in");
  });

  test("SHA-1 signatures are not taken", async () => {
    const old = await SshServer.start({ keyTypes: ["rsa"], config: "HostKeyAlgorithms ssh-rsa" });
    old.trust(`[127.0.0.1]:${old.port} ${old.publicKey("rsa")}\n`);
    const connect = sshConnector({ sshConfigFile: old.emptyConfig, agentSocket: null });
    await expect(connect(old.target())).rejects.toMatchObject({ code: "E_HOST_UNREACHABLE" });
    await old.stop();
  });

  describe("who we are", () => {
    beforeAll(() => server.trust());

    test("a key that the host does not have", async () => {
      const { outcome } = await tryOpen({ identityFiles: [join(server.folder, "other")] });
      expect(outcome).toMatch(
        /^E_HOST_AUTH: testhost does not let root in: it accepted none of the keys; .*authorized_keys/,
      );
    });

    test("no key at all", async () => {
      const { outcome } = await tryOpen(
        { identityFiles: [], knownHostsFiles: [server.knownHosts] },
        { sshConfigFile: noKeys() },
      );
      expect(outcome).toMatch(/^E_HOST_AUTH: .*there is no key to offer; set identityFile/);
    });

    test.each<[string, () => string, RegExp]>([
      [
        "encrypted",
        () => server.makeKey("locked", "ed25519", "passphrase"),
        /locked is encrypted and needs its passphrase; give it to an agent: ssh-add/,
      ],
      ["missing", () => join(server.folder, "nowhere"), /nowhere does not exist/],
      ["public", () => join(server.folder, "client.pub"), /client\.pub is not a private key/],
      ["no key", () => server.knownHosts, /known_hosts is not a private key in a known format/],
    ])("a key file that is %s", async (_, file, message) => {
      const connect = sshConnector({ sshConfigFile: server.emptyConfig, agentSocket: null });
      const error = await connect(server.target({ identityFiles: [file()] })).catch(
        (reason: Error) => reason,
      );
      expect(error).toMatchObject({ code: "E_HOST_AUTH" });
      expect(`${(error as Error).message}; ${(error as unknown as { hint: string }).hint}`).toMatch(message);
    });

    test("an agent, before and in place of files", async () => {
      const agentSocket = join(server.folder, "agent");
      const agent = spawn("ssh-agent", ["-D", "-a", agentSocket], { stdio: "ignore" });
      try {
        const env = { ...process.env, SSH_AUTH_SOCK: agentSocket };
        await until(() => execFileSync("ssh-add", [server.clientKey], { env, stdio: "ignore" }) === null, {
          what: "the agent",
        });
        const files = { identityFiles: [], knownHostsFiles: [server.knownHosts] };
        expect((await tryOpen(files, { agentSocket, sshConfigFile: noKeys() })).outcome).toBe("in");
        const locked = server.makeKey("locked-too", "ed25519", "passphrase");
        expect((await tryOpen({ identityFiles: [locked] }, { agentSocket })).outcome).toBe("in");
      } finally {
        agent.kill();
      }
    });

    test("an agent that is gone does not stand in the way of a file", async () => {
      const agentSocket = join(server.folder, "no-agent");
      expect((await tryOpen({}, { agentSocket })).outcome).toBe("in");
    });
  });

  function noKeys(): string {
    const file = join(server.folder, "no-keys");
    writeFileSync(file, `IdentityFile ${join(server.folder, "nothing")}\n`);
    return file;
  }

  describe("over another host", () => {
    let gate: SshServer;
    beforeAll(async () => {
      gate = await SshServer.start();
      server.trust();
    });
    afterAll(() => gate?.stop());
    const jumping = (change: Partial<RemoteTarget> = {}): Partial<RemoteTarget> => ({
      jump: [gate.target({ host: "gate", ...change })],
    });

    test("goes through, each hop with its own key and file", async () => {
      gate.trust();
      expect((await tryOpen(jumping())).outcome).toBe("in");
    });

    test("refuses a gate whose key is not known, and neither is offered anything", async () => {
      gate.trust(`[127.0.0.1]:${gate.port} ${other}\n`);
      const mark = gate.log.length;
      const before = server.log.length;
      const connect = sshConnector({ sshConfigFile: server.emptyConfig, agentSocket: null });
      await expect(connect(server.target(jumping()))).rejects.toMatchObject({
        code: "E_HOST_KEY_CHANGED",
        message: expect.stringMatching(/^gate shows another key/),
      });
      gate.trust();
      expect(gate.log.slice(mark)).not.toMatch(/userauth-request/);
      expect(server.log.slice(before)).toBe("");
    });

    test("refuses a host behind the gate whose key is not known", async () => {
      server.trust(`${name()} ${other}\n`);
      expect(await tryOpen(jumping())).toMatchObject({
        outcome: expect.stringMatching(/^E_HOST_KEY_CHANGED: testhost/),
        offered: false,
      });
      server.trust();
    });

    test("says which hop cannot be reached", async () => {
      const connect = sshConnector({ sshConfigFile: server.emptyConfig, agentSocket: null });
      const port = await freePort();
      await expect(connect(server.target({ ...jumping(), port }))).rejects.toMatchObject({
        code: "E_HOST_UNREACHABLE",
        message: expect.stringMatching(/^testhost cannot be reached: through gate: .*refused/i),
      });
      await expect(connect(server.target(jumping({ port })))).rejects.toMatchObject({
        code: "E_HOST_UNREACHABLE",
        message: expect.stringMatching(/^gate cannot be reached/),
      });
    });

    test("the user's own ssh configuration fills in what was left open, the way included", async () => {
      const sshConfigFile = join(server.folder, "own_config");
      writeFileSync(
        sshConfigFile,
        `Host deep
  HostName 127.0.0.1
  Port ${server.port}
  ProxyJump gate
Host gate
  HostName 127.0.0.1
  Port ${gate.port}
Host *
  User root
  IdentityFile ${server.clientKey}
  IdentityFile ${gate.clientKey}
  UserKnownHostsFile ${server.knownHosts} ${gate.knownHosts}
`,
      );
      const mark = gate.log.length;
      const { outcome } = await tryOpen(
        {
          address: "deep",
          port: 22,
          user: "nobody",
          identityFiles: [],
          knownHostsFiles: [],
          defaulted: ["user", "port", "jump"],
        },
        { sshConfigFile },
      );
      expect(outcome).toBe("in");
      expect(gate.log.slice(mark)).toMatch(/direct-tcpip/);
    });
  });
});
