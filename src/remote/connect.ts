/** The connector that commands use: ssh, or no ssh at all for the machine the command runs on. */
import { connectLocal } from "./local-remote.ts";
import type { Connect } from "./remote.ts";
import { type SshOptions, sshConnector } from "./ssh-remote.ts";

export function connector(options: SshOptions = {}): Connect {
  const overSsh = sshConnector(options);
  return (target) => (target.connection === "local" ? connectLocal(target) : overSsh(target));
}
