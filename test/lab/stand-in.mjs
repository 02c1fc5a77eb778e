/**
 * Stands in for a scheduler or an executor in the lab's own tests: takes a lease
 * of one second, registers itself, serves /healthz and tells its wall clock.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import pg from "pg";

const [role, , file, , name] = process.argv.slice(2);
if (process.env.STAND_IN_FAILS === name) {
  console.log(`${name} was told to fail`);
  process.exit(3);
}
const { spec } = JSON.parse(readFileSync(file, "utf8"));
const { http } = spec[role].nodes.find((node) => node.name === name);
if (http) createServer((_, response) => response.end("ok")).listen(http.port, http.address);
if (process.env.STAND_IN_STRAYS === name) {
  spawn("sleep", ["300"], { detached: true, stdio: "ignore" }).unref();
}

const incarnation = crypto.randomUUID();
const statements = {
  scheduler: [
    `UPDATE escapement.leader SET epoch = epoch + (holder IS DISTINCT FROM $1)::int, holder = $1, node = $2, host = 'here',
       lease_ms = 1000, acquired_at = clock_timestamp(), expires_at = clock_timestamp() + interval '1 s'
     WHERE expires_at < clock_timestamp() OR holder = $1`,
    [incarnation, name],
  ],
  executor: [
    `INSERT INTO escapement.executor (incarnation, node, host, boot_id, pid, process_start, version, state, lease_ms,
       lease_until, cpu_slots, memory_slots, io_slots)
     VALUES ($1, $2, 'here', 'boot', $3, '0', '0', 'active', 1000, clock_timestamp(), 1, 1, 1)
     ON CONFLICT (incarnation) DO UPDATE SET lease_until = clock_timestamp()`,
    [incarnation, name, process.pid],
  ],
};

for (;;) {
  const client = new pg.Client({
    connectionString: process.env.ESCAPEMENT_STORE_URL,
    connectionTimeoutMillis: 500,
    query_timeout: 500,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(...statements[role]);
  } catch (error) {
    console.log(`failed ${error.message}`);
  }
  client.end().catch(() => {});
  console.log(`clock ${Date.now()}`);
  await new Promise((resolve) => setTimeout(resolve, 100));
}
