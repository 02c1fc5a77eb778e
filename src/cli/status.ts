/** `escapement status`: who leads, who executes, what waits. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import { defineCommand } from "./command.ts";
import { type StoreOptions, withStore, withStoreOptions } from "./store-url.ts";
import { paint, print, printJson, table } from "./terminal.ts";

export function build(): Command {
  const command = defineCommand("status", "who leads, who executes, what waits and what went wrong", {
    examples: ["escapement status --cluster cluster.yaml", "escapement status --json"],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unavailable],
    notes: "Exit 1 when nobody leads.",
  }).option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: StoreOptions & { json?: boolean }) => {
    const { readLeader } = await import("../store/leadership.ts");
    const { listSchedulers } = await import("../store/scheduler-row.ts");
    const { livingExecutors } = await import("../store/executor.ts");
    const { readBacklog } = await import("../store/overview.ts");
    const { listAlerts } = await import("../store/alert.ts");
    const { drainedNodes, nodeLoads } = await import("../store/drain.ts");
    const { readStoreTime } = await import("../store/store-time.ts");
    await withStore(options, async (db) => {
      const now = await readStoreTime(db);
      const leader = await readLeader(db);
      const schedulers = await listSchedulers(db);
      const executors = await livingExecutors(db);
      const backlog = await readBacklog(db);
      const [drained, loads] = [await drainedNodes(db), await nodeLoads(db)];
      const alerts = await listAlerts(db, { since: new Date(now.getTime() - 86_400_000), limit: 10 });
      if (!leader.alive) process.exitCode = ExitCode.failed;
      if (options.json)
        return printJson({ now, leader, schedulers, executors, drained, loads, backlog, alerts });
      const who = leader.alive ? paint.green(`${leader.node} leads`) : paint.red("nobody leads");
      print(`${formatInstant(now)}  ${who}, epoch ${leader.epoch}`);
      const offset = (ms: number | null) => (ms === null ? "-" : `${Math.round(ms)} ms`);
      if (schedulers.length > 0) {
        // A cluster without such an address has no column for it.
        const shared = schedulers.some((one) => one.holdsVirtualAddress !== null);
        const held = { true: "here", false: "no", null: "unknown" } as const;
        const holders = schedulers.filter((one) => one.holdsVirtualAddress === true);
        const rows = schedulers.map((one) => [
          one.node,
          one.role === "silent" ? paint.red(`silent for ${Math.round(one.secondsSinceSeen)} s`) : one.role,
          String(one.pid),
          one.host,
          offset(one.offsetMs),
          one.timeZoneData,
          ...(shared ? [held[`${one.holdsVirtualAddress}`]] : []),
        ]);
        const columns = ["scheduler", "role", "pid", "host", "clock offset", "zone data"];
        print(table([...columns, ...(shared ? ["virtual address"] : [])], rows));
        if (holders.length > 1)
          print(
            paint.red(`${holders.map((one) => one.host).join(" and ")} hold the virtual address at once`),
          );
      }
      const rows = executors.map((one) => [
        one.node,
        one.expired ? paint.red("lease ended") : one.state,
        String(one.pid),
        one.host,
        offset(one.offsetMs),
        `cpu ${one.slots.cpu}, memory ${one.slots.memory}, io ${one.slots.io}`,
      ]);
      print(
        rows.length > 0
          ? table(["executor", "state", "pid", "host", "clock offset", "slots"], rows)
          : paint.red("no executors"),
      );
      for (const { node, since, person, reason } of drained) {
        const running = loads.find((load) => load.node === node)?.running ?? 0;
        print(
          `${node} is drained since ${formatInstant(since)} by ${person}: ${reason}; ${running} shard(s) still running`,
        );
      }
      print(
        `executions: ${backlog.open} open, ${backlog.held} waiting in line, ${backlog.planned} planned; ` +
          `shards: ${backlog.shardsRunning} running, ${backlog.shardsPending} waiting; stale writes refused: ${backlog.staleWrites}`,
      );
      if (alerts.length > 0) {
        const lines = alerts.map((one) => [
          formatInstant(one.lastAt),
          one.severity,
          one.kind,
          String(one.count),
          one.message,
        ]);
        print(table(["alert at", "severity", "kind", "times", "message"], lines));
      }
    });
  });
}
