/** A throw-away pgbouncer in transaction mode, to prove that everything works behind one. */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { EscapementError } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { Database } from "../store/database.ts";
import { freePort } from "./free-port.ts";
import { spawnTethered, type TetheredProcess, tetherFolder } from "./tether.ts";
import { temporaryFolder, unprivilegedUser } from "./unprivileged-user.ts";

export interface PgbouncerOptions {
  /** The server behind it, as a URL of any of its databases; the user must need no password. */
  readonly serverUrl: string;
  /** Server connections for each database; small, so that a session that sticks to one is noticed. Default 4. */
  readonly poolSize?: number;
}

export interface Pgbouncer {
  readonly port: number;
  readonly pid: number;
  /** A URL of the server, through the pooler. */
  through(url: string): string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** The program, or undefined: then everything about pgbouncer is unknown here. */
export function findPgbouncer(): string | undefined {
  const folders = ["/usr/sbin", ...(process.env.PATH ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, "pgbouncer")).find((program) => existsSync(program));
}

/**
 * Starts it on 127.0.0.1, `pool_mode = transaction`, with nothing that forgives session state:
 * no tracked startup parameters and no prepared statements.
 * @throws E_PROGRAM_MISSING, E_UNAVAILABLE
 */
export async function startPgbouncer(options: PgbouncerOptions): Promise<Pgbouncer> {
  const program = findPgbouncer();
  if (program === undefined) {
    throw new EscapementError("E_PROGRAM_MISSING", {
      program: "pgbouncer",
      hint: "on Debian: apt-get install pgbouncer",
    });
  }
  const user = unprivilegedUser();
  const folder = temporaryFolder("escapement-pgbouncer-", user);
  const untether = tetherFolder(folder);
  const server = new URL(options.serverUrl);
  const port = await freePort();
  const files = {
    "users.txt": `"${decodeURIComponent(server.username)}" ""\n`,
    "pgbouncer.ini": `[databases]
* = host=${server.hostname} port=${server.port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, "users.txt")}
pool_mode = transaction
default_pool_size = ${options.poolSize ?? 4}
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
server_fast_close = 1
`,
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    if (user) chownSync(join(folder, name), user.uid, user.gid);
    chmodSync(join(folder, name), 0o600);
  }
  const log = openSync(join(folder, "pgbouncer.log"), "a", 0o600);
  let running: TetheredProcess;
  try {
    running = await spawnTethered({
      command: [program, join(folder, "pgbouncer.ini")],
      environment: { PATH: "/usr/sbin:/usr/bin:/bin", LC_ALL: "C" },
      user,
      workingFolder: folder,
      stdout: log,
      stderr: log,
    });
  } finally {
    closeSync(log);
  }
  const through = (url: string) => {
    const changed = new URL(url);
    changed.hostname = "127.0.0.1";
    changed.port = String(port);
    return changed.href;
  };
  const stop = async () => {
    running.kill("SIGKILL");
    await running.exited;
    rmSync(folder, { recursive: true, force: true });
    untether();
  };
  if (!(await answers(through(options.serverUrl), running))) {
    const lastWords = readFileSync(join(folder, "pgbouncer.log"), "utf8").trim().split("\n").at(-1) ?? "";
    await stop();
    throw new EscapementError("E_UNAVAILABLE", {
      what: `pgbouncer did not start: ${lastWords}`,
      hint: "is the server behind it running?",
    });
  }
  return { port, pid: running.pid, through, stop };
}

/** Asks through it until the server behind it answers, for at most 10 s. */
async function answers(url: string, running: TetheredProcess): Promise<boolean> {
  const deadline = monotonicMs() + 10_000;
  while (running.exit === undefined && monotonicMs() < deadline) {
    const database = new Database(url, { maxConnections: 1, connectTimeoutMs: 2_000 });
    const ok = await database.query("SELECT 1").then(
      () => true,
      () => false,
    );
    await database.end();
    if (ok) return true;
    await sleep(50);
  }
  return false;
}
