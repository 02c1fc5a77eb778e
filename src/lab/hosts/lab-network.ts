/**
 * The network of a lab. Everything but our own end of one cable is in
 * namespaces, so that nothing of it meets the machine's own network.
 *
 *   this machine          namespace esc-lab-NAME               esc-lab-NAME.HOST
 *   controller .254 ═════ uplink ─┐
 *                                 br0 ── p1 ══════════════════ eth0 .11
 *                gateway .253 ────┤  └── p2 ══════════════════ eth0 .12
 *    time sources .241 .242 .243 ─┘
 *
 * The gateway forwards nothing: a host reaches its lab and no more.
 */
import { existsSync } from "node:fs";
import type { LabPlace } from "./lab-place.ts";
import { inNamespace, namespaceFile } from "./lab-place.ts";
import type { LabHost, LabState, NetworkCut } from "./lab-state.ts";
import { mustRun, runProgram } from "./run-program.ts";

/** Names that stand beside those of hosts where a cut names its peers. */
export const controllerPeer = "controller";
export const timePeer = "time";

const bridge = "br0";
const uplinkPort = "uplink";

/** The bridge with its addresses, and the cable to it. @throws E_LAB_STEP */
export async function createNetwork(place: LabPlace, state: LabState): Promise<void> {
  const { namespace } = place;
  const inside = `ip -n ${namespace}`;
  const own = [...state.timeSources, state.gateway];
  await shell(place, "creating the network", [
    `ip netns add ${namespace}`,
    `${inside} link set lo up`,
    // No spanning tree and no learning delay: a port forwards from its first packet on.
    `${inside} link add ${bridge} type bridge stp_state 0 forward_delay 0 mcast_snooping 0`,
    ...own.map((address) => `${inside} address add ${address}/24 dev ${bridge}`),
    `${inside} link set ${bridge} up`,
    `ip link add ${place.uplink} type veth peer name ${uplinkPort} netns ${namespace}`,
    `${inside} link set ${uplinkPort} master ${bridge} up`,
    `ip address add ${state.controllerAddress}/24 dev ${place.uplink}`,
    `ip link set ${place.uplink} up`,
  ]);
}

/** A host's own namespace, plugged into the bridge. */
export async function plugIn(place: LabPlace, state: LabState, host: LabHost): Promise<void> {
  const own = place.hostNamespace(host.name);
  const inside = `ip -n ${own}`;
  await shell(place, `plugging in ${host.name}`, [
    `ip netns add ${own}`,
    `ip -n ${place.namespace} link add ${host.port} type veth peer name eth0 netns ${own}`,
    `ip -n ${place.namespace} link set ${host.port} master ${bridge} up`,
    `${inside} link set lo up`,
    // The same after every power cut, as that of a real card: neighbours remember it.
    `${inside} link set eth0 address ${hardwareAddress(host.address)}`,
    `${inside} address add ${host.address}/24 dev eth0`,
    `${inside} link set eth0 up`,
    `${inside} route add default via ${state.gateway}`,
  ]);
}

/** Takes the cable out, at once. */
export async function unplug(place: LabPlace, host: LabHost): Promise<void> {
  await runProgram(["ip", "-n", place.namespace, "link", "set", host.port, "down"]);
}

/** Removes a host's namespace; no process may be left in it. */
export async function removeHostNamespace(place: LabPlace, host: LabHost): Promise<void> {
  const own = place.hostNamespace(host.name);
  if (existsSync(namespaceFile(own))) await mustRun(["ip", "netns", "delete", own]);
  // The kernel takes namespaces away some time later; the port's name must be free now.
  await runProgram(["ip", "-n", place.namespace, "link", "delete", host.port]);
}

/** Makes exactly these cuts hold, by rules of the bridge that no host can see or change. */
export async function applyCuts(place: LabPlace, state: LabState): Promise<void> {
  await mustRun([...inNamespace(place.namespace), "nft", "--file", "-"], {
    input: ruleset(state.hosts, state.cuts),
    step: "cutting the network",
  });
}

/** The rules for nft, whole: what stood before is replaced in one step. */
export function ruleset(hosts: readonly LabHost[], cuts: readonly NetworkCut[]): string {
  const rules = { forward: [] as string[], input: [] as string[], output: [] as string[] };
  const portOf = (name: string) => hosts.find((host) => host.name === name)?.port;
  for (const cut of cuts) {
    const port = portOf(cut.host);
    const both = cut.direction === "both";
    if (cut.peers.length === 0) {
      rules.forward.push(`oifname "${port}" drop`);
      if (both) rules.forward.push(`iifname "${port}" drop`);
    }
    if (cut.peers.length === 0 || cut.peers.includes(timePeer)) {
      rules.output.push(`oifname "${port}" drop`);
      if (both) rules.input.push(`iifname "${port}" drop`);
    }
    for (const peer of cut.peers.filter((name) => name !== timePeer)) {
      const other = peer === controllerPeer ? uplinkPort : portOf(peer);
      rules.forward.push(`iifname "${other}" oifname "${port}" drop`);
      if (both) rules.forward.push(`iifname "${port}" oifname "${other}" drop`);
    }
  }
  const chains = Object.entries(rules).map(
    ([hook, lines]) =>
      `  chain ${hook} {\n    type filter hook ${hook} priority 0; policy accept;\n${lines
        .map((line) => `    ${line}\n`)
        .join("")}  }\n`,
  );
  return `table bridge lab\ndelete table bridge lab\ntable bridge lab {\n${chains.join("")}}\n`;
}

function hardwareAddress(address: string): string {
  const bytes = address.split(".").map((part) => Number(part).toString(16).padStart(2, "0"));
  return ["02", "e5", ...bytes].join(":");
}

async function shell(place: LabPlace, step: string, commands: readonly string[]): Promise<void> {
  await mustRun(["sh", "-e", "-c", commands.join("\n")], { step, environment: place.mark });
}
