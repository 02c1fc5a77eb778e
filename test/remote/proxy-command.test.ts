/** A command of the ssh configuration that leads to the host: it carries the connection, ends with it, and says why it did not. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scanHostKeys } from "../../src/remote/host-key-scan.ts";
import { fillProxyCommand } from "../../src/remote/proxy-command.ts";
import type { RemoteTarget } from "../../src/remote/remote.ts";
import { sshConnector } from "../../src/remote/ssh-remote.ts";
import { until } from "../support/until.ts";
import { noSshd, SshServer } from "./ssh-server.ts";

const values = { address: "10.0.0.1", given: "exec-1", port: 2222, user: "ops", keyName: "[10.0.0.1]:2222" };

test("tokens are filled in as ssh does it", () => {
  expect(fillProxyCommand("nc -X 5 %h %p # %n %r %k 100%%", values)).toEqual({
    line: "nc -X 5 10.0.0.1 2222 # exec-1 ops [10.0.0.1]:2222 100%",
  });
});

test.each([
  ["a token that is not known", "nc %C", {}, /has %C, which is not supported/],
  ["a % at the end", "nc %h %", {}, /has %, which is not supported/],
  ["an address that is a command", "nc %h", { address: "a;reboot" }, /"a;reboot" cannot stand/],
  ["one that runs a command", "nc %h", { address: "$(reboot)" }, /cannot stand/],
  ["an address that is an option", "nc %h", { address: "-oX" }, /"-oX" cannot stand/],
  ["a user with a space", "nc %r", { user: "a b" }, /cannot stand/],
])("%s is refused", (_, command, bent, reason) => {
  expect(fillProxyCommand(command, { ...values, ...bent })).toEqual({
    refused: expect.stringMatching(reason),
  });
});

describe.skipIf(noSshd)("a host behind a ProxyCommand", () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await SshServer.start();
    writeFileSync(
      join(server.folder, "carry.mjs"),
      `import { connect } from "node:net";
import { writeFileSync } from "node:fs";
const [, , host, port, note] = process.argv;
writeFileSync(note, String(process.pid));
const way = connect(Number(port), host);
process.stdin.pipe(way).pipe(process.stdout);
way.on("close", () => process.exit(0));
`,
    );
  });
  afterAll(() => server?.stop());

  const file = (name: string) => join(server.folder, name);
  /** The pid that the command wrote to the file. */
  const pidIn = (name: string) => Number(existsSync(file(name)) ? readFileSync(file(name), "utf8") : "0");
  const isGone = (pid: number) => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  const carry = (note: string) => `${process.execPath} ${file("carry.mjs")} %h %p ${file(note)}`;
  /** Everything is left to the ssh configuration, whose command leads to the server. */
  const behind = (command: string, change: Partial<RemoteTarget> = {}, more = "") => {
    const sshConfigFile = file(`config-${Math.random()}`);
    writeFileSync(
      sshConfigFile,
      `Host deep\n  HostName 127.0.0.1\n  Port ${server.port}\n  User root\n  ProxyCommand ${command}\n${more}`,
    );
    return {
      options: { sshConfigFile, agentSocket: null },
      target: server.target({
        address: "deep",
        port: 22,
        user: "nobody",
        defaulted: ["user", "port", "jump"],
        ...change,
      }),
    };
  };
  const open = (command: string, change?: Partial<RemoteTarget>, more?: string) => {
    const { options, target } = behind(command, change, more);
    return sshConnector(options)(target);
  };

  test("is reached over it, and the command ends with the connection", async () => {
    server.trust();
    const remote = await open(carry("carried"));
    const { stdout } = await remote.exec({ argv: ["id", "-un"], deadlineMs: 20_000 });
    expect(stdout).toBe("root\n");
    const pid = pidIn("carried");
    expect(isGone(pid)).toBe(false);
    await remote.close();
    await until(() => isGone(pid), { what: "the command to end" });
  });

  test("when the command dies, what runs on the host is lost, and is told so", async () => {
    const remote = await open(carry("killed"));
    const running = remote.exec({ argv: ["sleep", "600"], deadlineMs: 60_000 });
    const lost = expect(running).rejects.toMatchObject({ code: "E_HOST_LOST" });
    process.kill(pidIn("killed"), "SIGKILL");
    await lost;
    await remote.close();
  });

  test("its key is judged all the same, and can be looked at and trusted", async () => {
    const { options, target } = behind(carry("judged"));
    server.trust("");
    await expect(sshConnector(options)(target)).rejects.toMatchObject({ code: "E_HOST_KEY_UNKNOWN" });
    const { keys } = await scanHostKeys(target, options);
    expect(keys.map(({ type }) => type)).toEqual(["ssh-ed25519"]);
    server.trust();
    await until(() => isGone(pidIn("judged")), { what: "the command to end" });
  });

  test("a command that fails is told with what it said last", async () => {
    await expect(open("sh -c 'echo warning >&2; echo no way there >&2; exit 3'")).rejects.toMatchObject({
      code: "E_HOST_UNREACHABLE",
      message: expect.stringMatching(/its ProxyCommand ended with 3: no way there$/),
    });
    await expect(open("/nowhere/at/all %h")).rejects.toMatchObject({
      code: "E_HOST_UNREACHABLE",
      message: expect.stringMatching(/its ProxyCommand ended with 12[67]: .*\/nowhere\/at\/all/),
    });
  });

  test("one that says nothing is given up in time, with all that it started, however stubborn", async () => {
    const stubborn = `sh -c "trap '' TERM; echo $$ >${file("shell")}; sleep 600"`;
    await expect(open(stubborn, { connectTimeoutMs: 1_500 })).rejects.toMatchObject({
      code: "E_HOST_UNREACHABLE",
      message: expect.stringMatching(/no answer within/),
    });
    const pid = pidIn("shell");
    expect(pid).toBeGreaterThan(1);
    // The group of the shell: nobody is in it any more.
    await until(() => isGone(pid) && isGone(-pid), { what: "the command and its children to end" });
  });

  test("what ssh can do there and we cannot is refused, not passed over", async () => {
    await expect(open("nc %C %h")).rejects.toMatchObject({
      code: "E_HOST_UNREACHABLE",
      message: expect.stringMatching(/has %C, which is not supported; write jump in the inventory instead/),
    });
    await expect(open("nc %h %p", {}, "  ProxyUseFdpass yes\n")).rejects.toMatchObject({
      message: expect.stringMatching(/ProxyUseFdpass, which is not supported/),
    });
  });
});
