/** Files of a cluster whose hosts nobody reaches, and whose store is the test's. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

/** A port of this machine where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Writes inventory.yaml and the cluster file. */
export async function writeClusterFiles(
  folder: string,
  storeUrl: string,
  clusterFile = "cluster.yaml",
): Promise<void> {
  const port = await closedPort();
  const host = (name: string, profile: string) =>
    `    - { name: ${name}, address: 127.0.0.1, port: ${port}, profile: ${profile} }`;
  writeFileSync(
    join(folder, "inventory.yaml"),
    [
      "apiVersion: escapement/v1",
      "kind: Inventory",
      "metadata: { name: small }",
      "spec:",
      "  hosts:",
      ...[
        host("sched-1", "scheduler"),
        host("sched-2", "scheduler"),
        host("exec-1", "executor"),
        host("exec-2", "executor"),
        host("store-1", "record-store"),
        host("watch-1", "watchman"),
      ],
      "",
    ].join("\n"),
  );
  const node = (name: string, at: number) =>
    `      - { name: ${name}, http: { address: 127.0.0.1, port: ${at} } }`;
  writeFileSync(
    join(folder, clusterFile),
    [
      "apiVersion: escapement/v1",
      "kind: Cluster",
      "metadata: { name: small }",
      "spec:",
      `  store: { url: "${storeUrl}" }`,
      "  scheduler:",
      "    lease: 6s",
      "    renewEvery: 2s",
      "    stopEarly: 1s",
      "    nodes:",
      node("sched-1", 7070),
      node("sched-2", 7071),
      "  executor:",
      "    lease: 9s",
      "    renewEvery: 2s",
      "    stopEarly: 1s",
      "    nodes:",
      "      - { name: exec-1, slots: { cpu: 1, memory: 1, io: 1 }, workDirectory: work }",
      "  logs: { directory: logs }",
      "",
    ].join("\n"),
  );
}
