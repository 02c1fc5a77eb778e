/** Part of the registry of errors: what can go wrong between here and a host. */
import type { ErrorSpec } from "./errors.ts";
import { ExitCode } from "./exit-code.ts";

export const hostErrors = {
  E_HOST_UNKNOWN: {
    message: "there is no host {host} in {inventory}",
    hint: "escapement hosts list shows the hosts{suggestion}",
    exitCode: ExitCode.usage,
  },
  E_HOST_UNREACHABLE: {
    message: "{host} cannot be reached: {reason}",
    hint: "check address, port and network: {address}",
    exitCode: ExitCode.unavailable,
  },
  E_HOST_KEY_UNKNOWN: {
    message: "{host} shows a {type} key that no known_hosts file has: {fingerprint}",
    hint: "nothing was sent; {hint}",
    exitCode: ExitCode.refused,
  },
  E_HOST_KEY_CHANGED: {
    message: "{host} shows another key than before: {type} {fingerprint}, known is {known}",
    hint: "nothing was sent; this is a reinstalled host or an attack: find out which; if the machine was replaced, compare the new fingerprint at its console, then: escapement hosts trust {host} --replace",
    exitCode: ExitCode.refused,
  },
  E_HOST_KEY_REVOKED: {
    message: "{host} shows a key that is marked as revoked at {place}: {type} {fingerprint}",
    hint: "nothing was sent; whoever has this key is not to be trusted",
    exitCode: ExitCode.refused,
  },
  E_HOST_AUTH: {
    message: "{host} does not let {user} in: {reason}",
    hint: "{hint}",
    exitCode: ExitCode.unavailable,
  },
  E_HOST_SUDO: {
    message: "{host}: sudo refused {user}: {reason}",
    hint: "{hint}",
    exitCode: ExitCode.refused,
  },
  E_HOST_TIMEOUT: {
    message: "{host}: {what} did not end within {limit}",
    hint: "it was killed; look at the load of the host, or allow more time",
    exitCode: ExitCode.unavailable,
  },
  E_HOST_LOST: {
    message: "{host}: the connection broke during {what}: {reason}",
    hint: "what was running there may or may not have ended; look before you run it again",
    exitCode: ExitCode.unknown,
  },
  E_HOST_UPLOAD: {
    message: "{host}: {path} was not written: {reason}",
    hint: "the file that was there is unchanged",
    exitCode: ExitCode.failed,
  },
} as const satisfies Record<string, ErrorSpec>;
