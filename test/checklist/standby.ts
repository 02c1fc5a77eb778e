/** A real standby of a throw-away server: a copy of its files that streams from it. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "../../src/lab/postgres.ts";
import { temporaryFolder, unprivilegedUser } from "../../src/lab/unprivileged-user.ts";

export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const user = unprivilegedUser();
  const directory = temporaryFolder("escapement-standby-", user);
  try {
    const copied = spawnSync(
      join(primary.binaries.folder, "pg_basebackup"),
      [
        "-h",
        "127.0.0.1",
        "-p",
        String(primary.port),
        "-U",
        "postgres",
        "-D",
        join(directory, "data"),
        "-R",
        "-X",
        "stream",
        "-c",
        "fast",
      ],
      { cwd: "/", encoding: "utf8", ...(user && { uid: user.uid, gid: user.gid }) },
    );
    if (copied.status !== 0) throw new Error(`pg_basebackup: ${copied.stderr}`);
    return await startPostgres({ directory });
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}
