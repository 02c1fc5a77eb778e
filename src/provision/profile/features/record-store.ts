/**
 * PostgreSQL for the records, sized from the memory and cores of its host.
 * Commits are durable; passwords and databases are not made here, because a
 * profile holds no secrets.
 */
import { formatBytes } from "../../../base/bytes.ts";
import { formatDuration } from "../../../base/duration.ts";
import { isKnown } from "../../../base/fact.ts";
import type { Provenance } from "../../resource.ts";
import { computed, type HostContext, notComputed } from "../host-context.ts";
import { directory, linesFile, packageOf, unit } from "../make-resource.ts";
import type { Section } from "../resolved-profile.ts";
import type { Feature } from "./feature.ts";
import { checkStoreClients, storeClients } from "./store-clients.ts";
import { storeDiskReport } from "./store-disk.ts";

const mebibyte = 2 ** 20;
/** What is computed from memory and cores. */
const sizedKeys = [
  "maxConnections",
  "sharedBuffers",
  "effectiveCacheSize",
  "maintenanceWorkMem",
  "workMem",
  "parallelWorkers",
  "randomPageCost",
];

export const recordStore: Feature<"recordStore"> = (section, context) => {
  const { major, port, database } = section.value;
  const folder = `/etc/postgresql/${major}/main`;
  const service = `postgresql@${major}-main.service`;
  const packageName = `postgresql-${major}`;
  const { memory, cores } = context;
  const missing = [memory, cores].find((one) => !isKnown(one));
  const settings =
    isKnown(memory) && isKnown(cores)
      ? postgresSettings(section, context, memory.known.value, cores.known.value)
      : undefined;
  checkStoreClients(context);
  const addresses = storeClients(context);
  // One that jobs write to, on the same server: hosts get in there, too.
  const databases = [database, ...(context.list("jobDatabase")?.value ?? [])].join(",");
  const own = { owner: "postgres", group: "postgres" };
  return [
    packageOf(packageName, { risk: "medium" }),
    directory(`${folder}/conf.d`, { ...own, after: [`package:${packageName}`] }),
    linesFile(`${folder}/conf.d/escapement.conf`, {
      lines: settings?.lines ?? [],
      ...own,
      risk: "high",
      after: [`directory:${folder}/conf.d`],
      restarts: [{ unit: service, action: "restart" }],
      unavailable: missing && !isKnown(missing) ? missing.unknown : undefined,
      provenance: [
        section.written("major", major),
        section.written("port", port),
        ...(settings?.provenance ?? []),
        ...(missing && !isKnown(missing)
          ? sizedKeys.map((key) => notComputed(`recordStore.${key}`, missing.unknown))
          : []),
      ],
    }),
    linesFile(`${folder}/pg_hba.conf`, {
      lines: [
        "# type database user address method",
        "local   all         postgres            peer",
        "local   all         all                 scram-sha-256",
        `host    ${databases} all 127.0.0.1/32 scram-sha-256`,
        `host    ${databases} all ::1/128 scram-sha-256`,
        ...(isKnown(addresses)
          ? addresses.known.map(
              (one) => `host    ${databases} all ${one}/${one.includes(":") ? 128 : 32} scram-sha-256`,
            )
          : []),
      ],
      ...own,
      mode: 0o640,
      risk: "high",
      after: [`package:${packageName}`],
      restarts: [{ unit: service, action: "reload" }],
      unavailable: isKnown(addresses) ? undefined : addresses.unknown,
      provenance: [
        section.written("database", database),
        computed(
          "recordStore.clients",
          isKnown(addresses) ? addresses.known.join(", ") : "unknown",
          "every host of the inventory with a profile and the setting storeClients, with scram-sha-256",
        ),
      ],
    }),
    unit(service, {
      risk: "high",
      after: [`file:${folder}/conf.d/escapement.conf`, `file:${folder}/pg_hba.conf`],
    }),
    ...storeDiskReport({ database, port, after: `unit:${service}` }),
  ];
};

function postgresSettings(
  section: Section<"recordStore">,
  context: HostContext,
  memory: number,
  cores: number,
): { readonly lines: readonly string[]; readonly provenance: readonly Provenance[] } {
  const { value } = section;
  const clients = context.hosts.length;
  const connections = clients * value.connectionsPerHost + value.reservedConnections;
  const shared = toMebibytes(memory * value.sharedBuffersShare);
  const cache = toMebibytes(memory * value.cacheShare);
  const maintenance = Math.min(2_048, Math.max(64, toMebibytes(memory / 16)));
  const work = Math.max(1, toMebibytes((memory * value.workMemShare) / connections));
  const parallel = Math.max(0, Math.min(4, Math.floor(cores / 2)));
  const flash = isFlash(context);
  const total = formatBytes(memory);
  const lines = [
    "listen_addresses = '*'",
    `port = ${value.port}`,
    `max_connections = ${connections}`,
    "password_encryption = 'scram-sha-256'",
    `shared_buffers = ${shared}MB`,
    `effective_cache_size = ${cache}MB`,
    `maintenance_work_mem = ${maintenance}MB`,
    `work_mem = ${work}MB`,
    `max_worker_processes = ${Math.max(8, cores)}`,
    `max_parallel_workers = ${Math.max(2, cores)}`,
    `max_parallel_workers_per_gather = ${parallel}`,
    `max_wal_size = ${toMebibytes(value.maxWal)}MB`,
    `min_wal_size = ${Math.max(80, toMebibytes(value.maxWal / 4))}MB`,
    `checkpoint_timeout = ${Math.round(value.checkpointEvery / 1_000)}s`,
    "checkpoint_completion_target = 0.9",
    "wal_compression = on",
    `random_page_cost = ${flash ? 1.1 : 4}`,
    `effective_io_concurrency = ${flash ? 200 : 2}`,
    "# A record that was acknowledged is on disk: exactly once rests on it.",
    "fsync = on",
    "full_page_writes = on",
    "synchronous_commit = on",
    "timezone = 'UTC'",
    "log_timezone = 'UTC'",
    "tcp_keepalives_idle = 5",
    "tcp_keepalives_interval = 5",
    "tcp_keepalives_count = 3",
    "autovacuum_vacuum_cost_limit = 2000",
    "autovacuum_naptime = 10s",
    "log_checkpoints = on",
    "log_lock_waits = on",
    "log_autovacuum_min_duration = 10s",
  ];
  return {
    lines,
    provenance: [
      computed(
        "recordStore.maxConnections",
        connections,
        `${clients} hosts × ${value.connectionsPerHost} + ${value.reservedConnections} for people, backups and monitoring`,
      ),
      computed("recordStore.sharedBuffers", `${shared}MB`, `${value.sharedBuffersShare} of ${total}`),
      computed("recordStore.effectiveCacheSize", `${cache}MB`, `${value.cacheShare} of ${total}`),
      computed(
        "recordStore.maintenanceWorkMem",
        `${maintenance}MB`,
        `a sixteenth of ${total}, at most 2 GiB`,
      ),
      computed(
        "recordStore.workMem",
        `${work}MB`,
        `${value.workMemShare} of ${total} ÷ ${connections} connections`,
      ),
      computed("recordStore.parallelWorkers", Math.max(2, cores), `${cores} physical cores`),
      computed(
        "recordStore.randomPageCost",
        flash ? 1.1 : 4,
        flash ? "every disk of the host is flash (facts)" : "not every disk of the host is known to be flash",
      ),
      section.written("maxWal", formatBytes(value.maxWal)),
      section.written("checkpointEvery", formatDuration(value.checkpointEvery)),
    ],
  };
}

/** Only a whole list of disks says that none turns. */
function isFlash({ facts }: HostContext): boolean {
  const { disks } = facts;
  return (
    "known" in disks &&
    disks.known.length > 0 &&
    disks.known.every(({ rotational }) => isKnown(rotational) && !rotational.known)
  );
}

function toMebibytes(bytes: number): number {
  return Math.floor(bytes / mebibyte);
}
