/** The ssh Remote against a real OpenSSH server. */
import { afterAll, beforeAll, describe } from "vitest";
import { sshConnector } from "../../src/remote/ssh-remote.ts";
import { conformance } from "./conformance.ts";
import { noSshd, SshServer } from "./ssh-server.ts";

describe.skipIf(noSshd)("over ssh", () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await SshServer.start();
  });
  afterAll(() => server?.stop());
  conformance("ssh", () => ({
    connect: () => sshConnector({ sshConfigFile: server.emptyConfig, agentSocket: null })(server.target()),
  }));
});
