/**
 * The small process between `escapement once` and the command. It owns the
 * command's process group and kills it when
 *
 *   - the last deadline it was given has passed (its parent is frozen, or cut off), or
 *   - the channel to its parent closes (its parent was killed).
 *
 *   idle ──start──▶ running ──command ends──▶ exits, 0
 *                      │ deadline, or channel closed
 *                      ▼
 *                   SIGTERM to the group ──▶ SIGKILL
 *
 * It is plain JavaScript in a string, run with `node -e`: it must start fast, must
 * not depend on where the product is installed or which version is being
 * switched in, and knows nothing but clocks and signals.
 *
 * Deadlines are readings of `process.hrtime`, which on one host is one clock for
 * all processes. Sent as absolute readings, they stay right when the sender is frozen between
 * reading and sending.
 */
import { type ChildProcess, spawn } from "node:child_process";

/** What the parent sends. Times are monotonic milliseconds. */
export type SupervisorOrder =
  | {
      readonly start: {
        readonly command: string;
        readonly args: readonly string[];
        readonly env: NodeJS.ProcessEnv;
      };
    }
  | { readonly termAtMs: number; readonly killAtMs: number }
  | { readonly signal: NodeJS.Signals };

/** What the parent is told. `left`: processes of the group that the command left behind and that were killed. */
export type SupervisorReport =
  | { readonly started: number }
  | { readonly failed: { readonly code: string; readonly message: string } }
  | {
      readonly ended: {
        readonly code: number | null;
        readonly signal: NodeJS.Signals | null;
        readonly left: boolean;
      };
    }
  | { readonly stopping: "deadline" };

/** After SIGTERM because the parent died, in ms; the deadline may cut it shorter. */
const orphanGraceMs = 1_000;
/** After the command ended by itself, in ms: a daemon that it started may still be on its way into a group of its own. */
const settleMs = 200;

const program = `
"use strict";
const { spawn } = require("node:child_process");
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
let child, timer, termAtMs = -Infinity, killAtMs = -Infinity, ended = false, warned = false, told = false;
const tell = (report) => { if (process.connected) process.send(report, () => {}); };
const hit = (signal) => {
  if (!child || !child.pid) return false;
  try { process.kill(-child.pid, signal); return true; } catch { return false; }
};
function watch() {
  clearTimeout(timer);
  if (!child || ended) return;
  const now = nowMs();
  if (now >= killAtMs) { hit("SIGKILL"); timer = setTimeout(watch, 50); return; }
  if (now >= termAtMs) {
    if (!warned) { warned = true; tell({ stopping: "deadline" }); hit("SIGTERM"); hit("SIGCONT"); }
    timer = setTimeout(watch, Math.max(1, killAtMs - now));
    return;
  }
  timer = setTimeout(watch, Math.min(2 ** 31 - 1, Math.max(1, termAtMs - now)));
}
function start({ command, args, env }) {
  if (nowMs() >= termAtMs) { tell({ failed: { code: "DEADLINE", message: "the lease was over before the command could be started" } }); return leave(); }
  child = spawn(command, args, { stdio: ["inherit", "inherit", "inherit"], detached: true, env });
  child.on("spawn", () => tell({ started: child.pid }));
  child.on("error", (error) => { if (!child.pid) { tell({ failed: { code: error.code || "ERROR", message: error.message } }); leave(); } });
  child.on("exit", (code, signal) => {
    const end = () => {
      const left = hit("SIGKILL");
      ended = true;
      tell({ ended: { code, signal, left } });
      leave();
    };
    if (hit(0) && !warned && !told) setTimeout(end, ${settleMs}); else end();
  });
  watch();
}
function leave() {
  clearTimeout(timer);
  if (process.connected) process.disconnect();
}
process.on("message", (order) => {
  if (order.start) start(order.start);
  else if (order.signal) { told = true; hit(order.signal); }
  else if (!warned) { termAtMs = order.termAtMs; killAtMs = order.killAtMs; watch(); }
});
process.on("disconnect", () => {
  if (!child || ended || !child.pid) return;
  termAtMs = Math.min(termAtMs, nowMs());
  killAtMs = Math.min(killAtMs, nowMs() + ${orphanGraceMs});
  watch();
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(signal, () => {});
`;

/** Starts a supervisor that waits for orders. The command will share our standard streams. */
export function startSupervisor(): ChildProcess {
  return spawn(process.execPath, ["-e", program], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
}
