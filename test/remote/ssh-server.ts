/** A real OpenSSH server of the test's own: a free port on loopback, keys in a temporary folder, nothing of the system's. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { RemoteTarget } from "../../src/remote/remote.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";
import { namespaceScript, writeAccounts } from "./server-accounts.ts";

export const sshdPath = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].find((path) => existsSync(path));

/** Servers are run as root: only root may start commands as somebody else, and sudo is then real. */
export const noSshd = unavailable("OpenSSH server", sshdPath !== undefined && process.getuid?.() === 0);

export interface ServerOptions {
  /** More lines of sshd_config. */
  readonly config?: string;
  /** Types of host key. Default: ed25519 alone. */
  readonly keyTypes?: readonly ("ed25519" | "ecdsa" | "rsa")[];
  /** In a mount namespace of its own, where the accounts of server-accounts.ts exist and sudo is set up. */
  readonly accounts?: boolean;
}

export class SshServer {
  readonly folder = mkdtempSync(join(tmpdir(), "escapement-sshd-"));
  readonly knownHosts = join(this.folder, "known_hosts");
  readonly clientKey = join(this.folder, "client");
  /** An ssh configuration that says nothing, in place of the user's own. */
  readonly emptyConfig = join(this.folder, "ssh_config");
  port = 0;
  #child: ChildProcess | undefined;
  #log = "";
  #accounts = false;

  static async start(options: ServerOptions = {}): Promise<SshServer> {
    const server = new SshServer();
    await server.#start(options);
    return server;
  }

  async #start({ config = "", keyTypes = ["ed25519"], accounts = false }: ServerOptions): Promise<void> {
    chmodSync(this.folder, 0o711);
    this.#accounts = accounts;
    if (accounts) writeAccounts(this.folder);
    this.makeKey("client");
    for (const type of keyTypes) this.makeKey(`host_${type}`, type);
    this.port = await freePort();
    writeFileSync(this.emptyConfig, "");
    writeFileSync(
      join(this.folder, "sshd_config"),
      [
        ...keyTypes.map((type) => `HostKey ${join(this.folder, `host_${type}`)}`),
        `ListenAddress 127.0.0.1`,
        `Port ${this.port}`,
        `PidFile none`,
        `AuthorizedKeysFile ${join(this.folder, "client.pub")}`,
        `StrictModes no`,
        `UsePAM no`,
        `PasswordAuthentication no`,
        `KbdInteractiveAuthentication no`,
        `PermitRootLogin prohibit-password`,
        `PrintMotd no`,
        `LogLevel DEBUG1`,
        `MaxStartups 200`,
        config,
        "",
      ].join("\n"),
    );
    this.trust(`[127.0.0.1]:${this.port} ${this.publicKey(keyTypes[0])}\n`);
    await this.up();
  }

  /** Starts the server process, again after `down`. */
  async up(): Promise<void> {
    execFileSync("mkdir", ["-p", "/run/sshd"]);
    const run = [sshdPath!, "-D", "-e", "-f", join(this.folder, "sshd_config")];
    const [program, ...args] = this.#accounts ? namespaceScript(this.folder, run) : run;
    const child = spawn(program!, args, { stdio: ["ignore", "ignore", "pipe"] });
    this.#child = child;
    child.stderr!.on("data", (chunk: Buffer) => {
      this.#log += chunk.toString();
    });
    await until(() => this.#log.includes("Server listening") || child.exitCode !== null, {
      what: "sshd to listen",
    });
    if (child.exitCode !== null) throw new Error(`sshd ended: ${this.#log}`);
  }

  /** What the server wrote so far. */
  get log(): string {
    return this.#log;
  }

  makeKey(name: string, type: "ed25519" | "ecdsa" | "rsa" = "ed25519", passphrase = ""): string {
    const file = join(this.folder, name);
    execFileSync("ssh-keygen", ["-q", "-t", type, "-N", passphrase, "-C", "test", "-f", file]);
    return file;
  }

  publicKey(type: "ed25519" | "ecdsa" | "rsa" = "ed25519"): string {
    return readFileSync(join(this.folder, `host_${type}.pub`), "utf8")
      .split(" ")
      .slice(0, 2)
      .join(" ");
  }

  /** Writes the known_hosts file: the server's own key, or what is given. */
  trust(text = `[127.0.0.1]:${this.port} ${this.publicKey()}\n`): void {
    writeFileSync(this.knownHosts, text);
  }

  target(overrides: Partial<RemoteTarget> = {}): RemoteTarget {
    return {
      host: "testhost",
      address: "127.0.0.1",
      port: this.port,
      user: userInfo().username,
      identityFiles: [this.clientKey],
      knownHostsFiles: [this.knownHosts],
      jump: [],
      connectTimeoutMs: 15_000,
      ...overrides,
    };
  }

  /** The processes that serve connections: children of the listening one, and theirs. */
  sessionPids(): number[] {
    return this.#child?.pid === undefined ? [] : descendants(this.#child.pid);
  }

  /** Cuts every connection as a crash would. */
  killSessions(): void {
    for (const pid of this.sessionPids()) {
      try {
        if (realpathSync(`/proc/${pid}/exe`) === realpathSync(sshdPath!)) process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
  }

  async stop(): Promise<void> {
    const child = this.#child;
    for (const pid of this.sessionPids()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
    if (child && child.exitCode === null) {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function descendants(pid: number): number[] {
  const found: number[] = [];
  for (const task of existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : []) {
    let children = "";
    try {
      children = readFileSync(`/proc/${pid}/task/${task}/children`, "utf8");
    } catch {
      // It has ended by itself.
    }
    for (const child of children.split(" ").map(Number).filter(Boolean))
      found.push(child, ...descendants(child));
  }
  return found;
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
