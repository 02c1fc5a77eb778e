/** Reads what the kernel says about processors. */

/** Physical cores out of /proc/cpuinfo; without topology (some virtual machines) every processor counts. Undefined: no processor listed. */
export function parseCores(cpuinfo: string): number | undefined {
  const blocks = cpuinfo.split(/\n\s*\n/).filter((block) => /^processor\s*:/m.test(block));
  if (blocks.length === 0) return undefined;
  const cores = new Set<string>();
  for (const block of blocks) {
    const socket = /^physical id\s*:\s*(\d+)/m.exec(block)?.[1];
    const core = /^core id\s*:\s*(\d+)/m.exec(block)?.[1];
    if (socket === undefined || core === undefined) return blocks.length;
    cores.add(`${socket}/${core}`);
  }
  return cores.size;
}

/** Sockets out of /proc/cpuinfo; undefined: not told. */
export function parseSockets(cpuinfo: string): number | undefined {
  const sockets = new Set([...cpuinfo.matchAll(/^physical id\s*:\s*(\d+)/gm)].map(([, id]) => id));
  return sockets.size === 0 ? undefined : sockets.size;
}

/** Nodes out of /sys/devices/system/node/online, for example `0-1,4`. */
export function parseNumaNodes(online: string): number | undefined {
  const text = online.trim();
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(text)) return undefined;
  return text.split(",").reduce((sum, range) => {
    const [from, to] = range.split("-").map(Number);
    return sum + (to === undefined ? 1 : to - from! + 1);
  }, 0);
}
