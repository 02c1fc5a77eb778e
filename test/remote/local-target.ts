import { userInfo } from "node:os";
import type { RemoteTarget } from "../../src/remote/remote.ts";

/** This machine, without ssh. */
export const localTarget: RemoteTarget = {
  host: "here",
  address: "127.0.0.1",
  port: 22,
  user: userInfo().username,
  identityFiles: [],
  knownHostsFiles: [],
  jump: [],
  connectTimeoutMs: 5_000,
  connection: "local",
};
