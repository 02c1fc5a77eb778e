/** The address of this machine that a host would see. */
import { createSocket } from "node:dgram";
import { EscapementError, messageOf } from "../../base/errors.ts";

/** Asks the kernel which way it would take; nothing is sent. @throws E_UNAVAILABLE */
export async function localAddressTowards(address: string): Promise<string> {
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.connect(9, address, resolve);
    });
    return socket.address().address;
  } catch (error) {
    throw new EscapementError(
      "E_UNAVAILABLE",
      {
        what: `cannot tell by which address ${address} sees this machine: ${messageOf(error)}`,
        hint: "say it with --address",
      },
      { cause: error },
    );
  } finally {
    socket.close();
  }
}
