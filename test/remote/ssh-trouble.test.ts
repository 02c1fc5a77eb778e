/** Everything that goes wrong with a real host: each ends as one clear error of one host. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Remote, RemoteTarget } from "../../src/remote/remote.ts";
import { sshConnector } from "../../src/remote/ssh-remote.ts";
import { until } from "../support/until.ts";
import { codeOf } from "./conformance.ts";
import { type Account, sudoPassword } from "./server-accounts.ts";
import { freePort, noSshd, SshServer } from "./ssh-server.ts";

const deadlineMs = 20_000;

/** Command lines of every process of this machine. */
function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    });
}

describe.skipIf(noSshd)("a host in trouble", () => {
  let server: SshServer;
  let remote: Remote | undefined;
  beforeAll(async () => {
    server = await SshServer.start({ accounts: true });
  });
  afterEach(() => remote?.close());
  afterAll(() => server?.stop());

  const open = async (change: Partial<RemoteTarget> = {}) => {
    remote = await sshConnector({ sshConfigFile: server.emptyConfig, agentSocket: null })(
      server.target(change),
    );
    return remote;
  };
  const as = (user: Account, change: Partial<RemoteTarget> = {}) => open({ user, ...change });
  const withPassword = (password: string) => {
    const sudoPasswordFile = join(server.folder, "sudo-password");
    writeFileSync(sudoPasswordFile, `${password}\n`, { mode: 0o600 });
    return { sudoPasswordFile };
  };
  /** The message of what a promise rejects with. */
  const told = async (promise: Promise<unknown>) => {
    const error = await promise.then(
      () => new Error("no error"),
      (reason: Error) => reason,
    );
    return `${(error as { code?: string }).code}: ${error.message}`;
  };

  describe("that does not answer", () => {
    let silent: Server | undefined;
    const sockets: Socket[] = [];
    afterEach(() => {
      for (const socket of sockets.splice(0)) socket.destroy();
      silent?.close();
    });

    test("a port where nothing listens", async () => {
      expect(await told(open({ port: await freePort() }))).toMatch(
        /^E_HOST_UNREACHABLE: testhost cannot be reached: ECONNREFUSED/,
      );
    });

    test("a name that does not exist", async () => {
      expect(await told(open({ address: "no-such-host.invalid" }))).toMatch(
        /^E_HOST_UNREACHABLE: .*no-such-host/,
      );
    });

    test("a host that takes the connection and says nothing", async () => {
      silent = createServer((socket) => sockets.push(socket));
      await new Promise<void>((resolve) => silent!.listen(0, "127.0.0.1", resolve));
      const { port } = silent.address() as { port: number };
      expect(await told(open({ port, connectTimeoutMs: 400 }))).toBe(
        "E_HOST_UNREACHABLE: testhost cannot be reached: no answer within 400ms",
      );
    });

    test("a host that hangs up in the middle of the handshake", async () => {
      silent = createServer((socket) => socket.end("SSH-2.0-Gone\r\n"));
      await new Promise<void>((resolve) => silent!.listen(0, "127.0.0.1", resolve));
      const { port } = silent.address() as { port: number };
      expect(await codeOf(open({ port }))).toBe("E_HOST_UNREACHABLE");
    });

    test("something that is not ssh", async () => {
      silent = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
      await new Promise<void>((resolve) => silent!.listen(0, "127.0.0.1", resolve));
      const { port } = silent.address() as { port: number };
      expect(await codeOf(open({ port }))).toBe("E_HOST_UNREACHABLE");
    });
  });

  test("dies in the middle of a command, with another one waiting", async () => {
    await open();
    const commands = [1, 2].map((i) => told(remote!.exec({ argv: ["sleep", `47${i}`], deadlineMs })));
    await until(() => commandLines().filter((line) => /^sleep 47[12] /.test(line)).length === 2, {
      what: "both commands to run",
    });
    server.killSessions();
    for (const message of await Promise.all(commands))
      expect(message).toMatch(/^E_HOST_LOST: testhost: the connection broke/);
    expect(await codeOf(remote!.exec({ argv: ["true"], deadlineMs }))).toBe("E_HOST_LOST");
  });

  test.each<[string, Account | "root", boolean]>([
    ["the user's own", "posix", false],
    ["root's", "asked", true],
  ])("a command past its deadline is gone from the host: %s", async (_, user, asRoot) => {
    await open({ user, ...withPassword(sudoPassword) });
    // A length that nobody else sleeps.
    const length = `300.${process.pid}${asRoot ? 1 : 2}`;
    const running = () => commandLines().some((line) => line.startsWith(`sleep ${length}`));
    const command = codeOf(
      remote!.exec({
        argv: ["sh", "-c", `sleep ${length}1 & sleep ${length}2; wait`],
        asRoot,
        deadlineMs: 3_000,
      }),
    );
    await until(running, { what: "it to run" });
    expect(await command).toBe("E_HOST_TIMEOUT");
    await until(() => !running(), { what: "it to be gone", deadlineMs: 15_000 });
    expect((await remote!.exec({ argv: ["echo", "on"], deadlineMs })).stdout).toBe("on\n");
  });

  test("more output on both streams than fits anywhere is read to the end", async () => {
    await open();
    const script = "head -c 20000000 /dev/zero & head -c 20000000 /dev/zero >&2; wait; exit 3";
    const result = await remote!.exec({ argv: ["sh", "-c", script], deadlineMs, maxOutputBytes: 5_000_000 });
    expect(result).toMatchObject({ exitCode: 3, truncated: true });
    expect([result.stdout.length, result.stderr.length]).toEqual([5_000_000, 5_000_000]);
  });

  describe("login shells", () => {
    test.each<Account>(["noisy", "tracing", "cshell", "posix"])(
      "%s: argument and output arrive as they are",
      async (user) => {
        await as(user);
        const nasty = `it's !! a "$HOME" \\ \n line * \`id\` ; größe`;
        const result = await remote!.exec({ argv: ["printf", "%s", nasty], deadlineMs });
        expect(result).toMatchObject({ exitCode: 0, stdout: nasty, stderr: "" });
      },
    );

    test("one that runs nothing is told in its own words", async () => {
      await as("nologin");
      expect(await told(remote!.exec({ argv: ["true"], deadlineMs }))).toMatch(
        /^E_HOST_AUTH: testhost does not let nologin in: its login shell ran nothing: This account is/,
      );
    });
  });

  describe("sudo", () => {
    const whoAmI = { argv: ["id", "-u"], asRoot: true, deadlineMs };

    test("without a password, where none is needed", async () => {
      await as("free");
      expect(await remote!.exec(whoAmI)).toMatchObject({ exitCode: 0, stdout: "0\n", stderr: "" });
    });

    test("without a password, where one is needed", async () => {
      await as("asked");
      expect(await told(remote!.exec(whoAmI))).toBe(
        "E_HOST_SUDO: testhost: sudo refused asked: a password is required",
      );
    });

    test("with the password, which is nowhere to be seen", async () => {
      await as("asked", withPassword(sudoPassword));
      const result = await remote!.exec({
        argv: ["sh", "-c", "id -u; cat; ps axww -o args"],
        stdin: "input",
        asRoot: true,
        deadlineMs,
      });
      expect(result.stdout).toMatch(/^0\ninput/);
      expect(result.stdout + result.stderr).not.toContain("pass word");
    });

    test("input that is there before sudo asks is no answer to sudo", async () => {
      await as("noisy", withPassword(sudoPassword));
      const result = await remote!.exec({ argv: ["cat"], stdin: "input\n", asRoot: true, deadlineMs });
      expect(result).toMatchObject({ exitCode: 0, stdout: "input\n" });
    });

    test.each<[Account, string]>([
      ["asked", "told"],
      ["noisy", "told"],
      ["free", "not told"],
    ])("a dialogue with what runs as root begins after sudo: %s, where the password is %s", async (user) => {
      await as(user, withPassword(sudoPassword));
      const heard: string[] = [];
      const dialogue = (piece: string) => {
        heard.push(piece);
        return piece === "" ? "first\n" : null;
      };
      const result = await remote!.exec({ argv: ["cat"], dialogue, asRoot: true, deadlineMs });
      expect(result).toMatchObject({ exitCode: 0, stdout: "first\n" });
      expect(heard).toEqual(["", "first\n"]);
    });

    test("a password that sudo does not ask for does not become the input of the command", async () => {
      await as("free", withPassword("not needed"));
      const result = await remote!.exec({ argv: ["cat"], stdin: "input", asRoot: true, deadlineMs });
      expect(result).toMatchObject({ exitCode: 0, stdout: "input" });
    });

    test("with a wrong password", async () => {
      await as("asked", withPassword("wrong"));
      expect(await told(remote!.exec(whoAmI))).toBe(
        "E_HOST_SUDO: testhost: sudo refused asked: the password is wrong",
      );
    });

    test("a user who may not", async () => {
      await as("barred", withPassword(sudoPassword));
      expect(await told(remote!.exec(whoAmI))).toMatch(
        /^E_HOST_SUDO: .*refused barred: .*not in the sudoers file/,
      );
    });

    test("a file as root, with a noisy login shell or not", async () => {
      await as("free");
      const path = "/run/escapement-test-upload";
      const bytes = Buffer.from("secret");
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      await remote!.upload({ content: { bytes }, path, mode: 0o600, sha256, asRoot: true, deadlineMs });
      const { stdout } = await remote!.exec({ argv: ["stat", "-c", "%U %a", path], deadlineMs });
      await remote!.exec({ argv: ["rm", path], asRoot: true, deadlineMs });
      expect(stdout).toBe("root 600\n");
    });

    test.each([
      ["open to others", 0o644, "pw\n", "is readable by others"],
      ["empty", 0o600, "\n", "must hold the password on one line"],
      ["of two lines", 0o600, "a\nb\n", "must hold the password on one line"],
    ])("a password file that is %s is refused before anything is sent", async (_, mode, text, reason) => {
      const sudoPasswordFile = join(server.folder, `password-${mode}-${text.length}`);
      writeFileSync(sudoPasswordFile, text, { mode });
      expect(await told(as("asked", { sudoPasswordFile }))).toContain(
        `E_HOST_SUDO: testhost: sudo refused asked: ${sudoPasswordFile} ${reason}`,
      );
    });
  });

  test("a full disk leaves the file that was there", async () => {
    await open();
    const path = join(server.folder, "small", "file");
    const put = (bytes: Buffer) =>
      remote!.upload({
        content: { bytes },
        path,
        mode: 0o644,
        sha256: createHash("sha256").update(bytes).digest("hex"),
        deadlineMs,
      });
    await put(Buffer.from("old"));
    expect(await told(put(Buffer.alloc(500_000)))).toMatch(/^E_HOST_UPLOAD: .*No space left on device/);
    const after = await remote!.exec({
      argv: ["sh", "-c", 'cat "$1"/file; ls "$1"', "sh", join(server.folder, "small")],
      deadlineMs,
    });
    expect(after.stdout).toBe("oldfile\n");
  });
});

describe.skipIf(noSshd)("a host that allows fewer sessions than usual", () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await SshServer.start({ config: "MaxSessions 2" });
  });
  afterAll(() => server?.stop());

  test("still runs everything", async () => {
    const connect = sshConnector({ sshConfigFile: server.emptyConfig, agentSocket: null });
    const remote = await connect(server.target());
    const words = Array.from({ length: 12 }, (_, i) => String(i));
    const results = await Promise.all(
      words.map((word) =>
        remote.exec({ argv: ["sh", "-c", 'sleep 0.1; echo "$1"', "sh", word], deadlineMs }),
      ),
    );
    await remote.close();
    expect(results.map(({ stdout }) => stdout.trim())).toEqual(words);
  });
});
