/** Asks one host for its facts: one exec, as root where that is possible. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { isEscapementError } from "../../base/errors.ts";
import { userName } from "../../base/user-name.ts";
import { gatherDeadlineMs, gatherScript } from "../../hardware/gather/gather-script.ts";
import { parseGathered } from "../../hardware/gather/gathered.ts";
import { blame } from "../../hardware/gather/section-reader.ts";
import type { HostFacts } from "../../hardware/host-facts.ts";
import type { Remote, RemoteTarget } from "../../remote/remote.ts";

/**
 * Where sudo is refused the host is asked again without it; what needs root is
 * then unknown.
 * @throws E_HOST_…: whatever the connection rejects with
 */
export async function gatherFacts(remote: Remote, asRoot: boolean): Promise<HostFacts> {
  const nonce = randomBytes(12).toString("hex");
  const ask = (root: boolean) =>
    remote.exec({
      argv: ["sh", "-s"],
      stdin: gatherScript(nonce),
      asRoot: root,
      deadlineMs: gatherDeadlineMs,
    });
  const refused = (error: unknown) => asRoot && isEscapementError(error) && error.code === "E_HOST_SUDO";
  const reply = await ask(asRoot).catch((error: unknown) => {
    if (refused(error)) return ask(false);
    throw error;
  });
  const facts = parseGathered(reply.stdout, nonce);
  if (!("unknown" in facts.isComplete) || reply.stdout.includes(`${nonce} begin`)) return facts;
  // Not one line of ours came back: what the shell said instead is the reason.
  const said = reply.stderr.trim().split("\n").at(-1)?.slice(0, 120);
  const reason = `${facts.isComplete.unknown}${said ? `; the shell said: ${said}` : ""}`;
  return blame(facts, reason) as HostFacts;
}

/** This machine, without ssh. */
export function localTarget(): RemoteTarget {
  return {
    host: hostname(),
    address: "localhost",
    port: 22,
    user: userName(),
    identityFiles: [],
    knownHostsFiles: [],
    jump: [],
    connectTimeoutMs: 5_000,
    connection: "local",
  };
}
