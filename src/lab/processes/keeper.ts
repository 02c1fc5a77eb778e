/**
 * The process that keeps a lab of processes after `lab up` has ended. All that
 * it starts is tethered to it: with its end, in whatever way, all of it ends.
 * What is left of one that was killed is two files, for `down` to remove.
 *
 *   starting ──every node serves──▶ up ──`down`, SIGTERM──▶ nothing left
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join, resolve } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { findClockLibrary } from "../process-clock.ts";
import { type ProcessCluster, startProcessCluster } from "../process-cluster.ts";
import { LabFolder } from "./lab-folder.ts";
import { type LabAnswer, type LabNode, type LabRequest, requestSchema } from "./request.ts";
import { startOf } from "./same-process.ts";

/** The cluster's file in the output folder, with the store's URL in it. */
export const clusterFileName = "cluster.yaml";

/** Runs until it is told to end. @throws whatever keeps the cluster from starting */
export async function keepLab(name: string, outputFolder: string): Promise<void> {
  const folder = new LabFolder(name);
  const keeper = { pid: process.pid, startedAt: (await startOf(process.pid)) ?? "unknown" };
  folder.write({ tier: "process", keeper, phase: "starting", outputFolder });
  const ending = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => ending.abort());
  process.on("SIGHUP", () => {});
  const file = join(outputFolder, clusterFileName);
  try {
    const cluster = await startProcessCluster({ clocks: findClockLibrary() !== undefined });
    try {
      writeFileSync(file, clusterText(cluster), { mode: 0o600 });
      const server = await listen(folder.socket, cluster, () => ending.abort());
      folder.write({ tier: "process", keeper, phase: "up", outputFolder });
      await new Promise<void>((done) => {
        if (ending.signal.aborted) done();
        ending.signal.addEventListener("abort", () => done());
      });
      server.close();
    } finally {
      await cluster.down();
    }
  } finally {
    rmSync(file, { force: true });
    folder.remove();
  }
}

/** The same cluster for people's commands: they reach the store past every fault of the network. */
function clusterText(cluster: ProcessCluster): string {
  const document = JSON.parse(readFileSync(cluster.clusterFile, "utf8"));
  const { spec } = document;
  const inside = (path: string) => resolve(cluster.directory, path);
  spec.store = { url: cluster.storeUrl };
  spec.logs.directory = inside(spec.logs.directory);
  for (const node of spec.executor.nodes) node.workDirectory = inside(node.workDirectory);
  return `${JSON.stringify(document, null, 2)}\n`;
}

async function listen(path: string, cluster: ProcessCluster, end: () => void): Promise<Server> {
  const cuts = new Map<string, "both" | "receive">();
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    let received = "";
    connection.on("error", () => {});
    connection.setEncoding("utf8");
    connection.on("data", (part) => {
      received += part;
      if (!received.endsWith("\n")) return;
      answer(received, cluster, cuts).then(({ last, ...said }) => {
        connection.end(`${JSON.stringify(said)}\n`);
        if (last) end();
      });
    });
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(path, done);
  });
  return server;
}

async function answer(
  line: string,
  cluster: ProcessCluster,
  cuts: Map<string, "both" | "receive">,
): Promise<LabAnswer & { readonly last?: boolean }> {
  try {
    const request = requestSchema.parse(JSON.parse(line));
    await carryOut(request, cluster, cuts);
    return request.ask === "status" ? { nodes: nodesOf(cluster, cuts) } : { last: request.ask === "down" };
  } catch (error) {
    return { failed: { reason: messageOf(error) } };
  }
}

async function carryOut(
  request: LabRequest,
  cluster: ProcessCluster,
  cuts: Map<string, "both" | "receive">,
): Promise<void> {
  switch (request.ask) {
    case "cut":
      cluster.cutNetwork(request.node, "pause", request.receiveOnly ? "to-client" : "both");
      cuts.set(request.node, request.receiveOnly ? "receive" : "both");
      return;
    case "heal":
      for (const { name } of request.node === undefined ? cluster.nodes : [cluster.node(request.node)]) {
        cluster.heal(name);
        cuts.delete(name);
      }
      return;
    case "power":
      if (request.node === "store") return request.on ? cluster.server.start() : cluster.server.kill();
      if (!request.on) {
        await cluster.node(request.node).kill();
        return;
      }
      await cluster.node(request.node).start();
      return cluster.ready(request.node);
    case "clock":
      return cluster.setClock(request.node, request.offsetSeconds * 1_000);
    default:
  }
}

function nodesOf(cluster: ProcessCluster, cuts: ReadonlyMap<string, "both" | "receive">): LabNode[] {
  const offset = (name: string) => (cluster.clockOffsetMs(name) ?? 0) / 1_000;
  const nodes = cluster.nodes.map((node): LabNode => {
    const cut = cuts.get(node.name);
    return {
      name: node.name,
      address: node.httpUrl?.replace("http://", "") ?? "127.0.0.1",
      role: node.role,
      on: node.state !== "stopped",
      clockOffsetSeconds: offset(node.name),
      logFile: node.logFile,
      ...(cut && { cut }),
    };
  });
  const address = `127.0.0.1:${cluster.server.port}`;
  const store = { name: "store", address, role: "record-store", on: cluster.server.running };
  return [{ ...store, clockOffsetSeconds: offset("store") }, ...nodes];
}
