/**
 * Where numbers and rules come from. Every figure names one of these, so that
 * a reader can tell a rule from a measurement and a measurement from a guess.
 * `docs/capacity.md` explains each rule at more length.
 */

/** How far a source can be trusted, strongest first. */
export type SourceKind = "input" | "measured" | "documented" | "arithmetic" | "rule" | "assumption";

export interface Source {
  readonly kind: SourceKind;
  /** One sentence a buyer can read. */
  readonly text: string;
}

const registry = {
  input: { kind: "input", text: "given on the command line or in the workload file" },
  arithmetic: { kind: "arithmetic", text: "follows from the inputs" },
  simulation: { kind: "arithmetic", text: "seeded simulation, the same numbers for the same seed" },
  "rule.shard-target": {
    kind: "rule",
    text: "a shard runs 2 to 10 minutes and never longer than 15: a retry must stay cheap, the overhead small",
  },
  "rule.shards-per-node": {
    kind: "rule",
    text: "3 to 5 shards a node or more, never fewer shards than nodes: a lost node must leave work to share out",
  },
  "rule.node-multiple": { kind: "rule", text: "a multiple of the nodes, so that each gets the same number" },
  "rule.heavy-key": {
    kind: "rule",
    text: "a key with more than a tenth of the work is split off, by date or by a second key",
  },
  "rule.heap-margin": { kind: "rule", text: "memory = 1.5 × the job's peak, applied once, to the peak" },
  "rule.cores": {
    kind: "rule",
    text: "1 to 1.5 jobs a core: 1 for cpu, 1.25 for mixed, 1.5 for io-bound work",
  },
  "rule.record-size": {
    kind: "rule",
    text: "executions a day × shards × bytes a record, as a planner does it on paper",
  },
  "rule.index-and-log": {
    kind: "rule",
    text: "2 to 3 × the raw records for index and log; 200 to 300 GB kept for 70 GB a year",
  },
  "rule.text-logs": {
    kind: "rule",
    text: "text output is 5 to 10 × the records and lives in a log system, not here",
  },
  "rule.small-transactions": { kind: "rule", text: "small transactions = shards × executions" },
  "rule.retention": {
    kind: "rule",
    text: "records are kept at least 12 months, here 13, so that a year-end audit is covered",
  },
  "rule.scheduler-size": {
    kind: "rule",
    text: "2 to 4 cores and 8 to 16 GB for hundreds of jobs and thousands of fires a day; two machines",
  },
  "rule.split-roles": {
    kind: "rule",
    text: "scheduler and executor share a machine only if none of four conditions holds",
  },
  "rule.shortest-plank": { kind: "rule", text: "a mixed job is sized by the resource that runs out first" },
  "rule.disk-fill": { kind: "rule", text: "a disk is planned to be at most three quarters full" },
  "postgres.page": {
    kind: "documented",
    text: "PostgreSQL manual, Database Page Layout: 8 KiB page, 24-byte header, 4-byte line pointer, 8-byte alignment",
  },
  "postgres.tuple": {
    kind: "documented",
    text: "PostgreSQL manual, Table Row Layout: 23-byte header, null bitmap, columns aligned in order",
  },
  "postgres.btree": {
    kind: "documented",
    text: "PostgreSQL manual, B-Tree: leaf fill factor 90, half-full after random splits, deduplicated posting lists",
  },
  "postgres.heap-simulation": {
    kind: "arithmetic",
    text: "page-level simulation of inserts, updates, pruning and vacuum by PostgreSQL's placement rules",
  },
  "postgres.wal": {
    kind: "documented",
    text: "PostgreSQL source, WAL record layout: 24-byte record header, block references, full page after a checkpoint",
  },
  "measured.group-commit": {
    kind: "measured",
    text: "commits per flush for 1 to 64 clients on a disk with 2.2 ms per flush: 1.0 to 15.5, about half the clients",
  },
  "measured.here": { kind: "measured", text: "measured just now on this machine" },
  "media.class": {
    kind: "assumption",
    text: "planning figure for the class of medium in the catalogue; measure the delivered disk",
  },
  "raid.penalty": {
    kind: "documented",
    text: "disk operations a small write costs: RAID 0 one, RAID 1 and 10 two, RAID 5 four, RAID 6 six",
  },
  "assumption.overhead": {
    kind: "assumption",
    text: "claim, two record writes, process start and exit; replace it by a measured figure with --overhead",
  },
  "assumption.spread": {
    kind: "assumption",
    text: "spread of shard times without a key histogram; replace it with --spread or give --keys",
  },
  "assumption.os-reserve": {
    kind: "assumption",
    text: "the operating system keeps 2 GiB or 5 % of memory, whichever is more, and one core in eight",
  },
  "assumption.temp": {
    kind: "assumption",
    text: "sorts and index builds that spill to disk need the largest index once more",
  },
  "assumption.commit-cpu": {
    kind: "assumption",
    text: "12,000 completed shards a second on 2 cores is what the record store is built to reach; see bench/",
  },
  catalogue: { kind: "input", text: "the hardware catalogue; every entry names its own source and date" },
  records: { kind: "measured", text: "read from the executions and shards that a live record store holds" },
  regression: {
    kind: "arithmetic",
    text: "least squares over the recorded runs, interval from the residuals",
  },
} as const satisfies Record<string, Source>;

export type SourceId = keyof typeof registry;

/** The source behind an id. */
export function sourceOf(id: SourceId): Source {
  return registry[id];
}

/** Every id, for the documentation and its test. */
export const sourceIds = Object.keys(registry) as SourceId[];
