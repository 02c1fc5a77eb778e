/** Commands to a running virtual machine itself: keep its state, end it. */
import { EscapementError } from "../../base/errors.ts";
import { JsonSocket } from "./json-socket.ts";

/** Keeping the memory of a machine takes a second or two. */
const limitMs = 120_000;

/** Runs commands of QEMU's own console, one after the other. @throws E_LAB_STEP with what it says against one */
export async function tellMachine(socketFile: string, commands: readonly string[]): Promise<void> {
  const socket = await JsonSocket.open(socketFile);
  try {
    await socket.receive((line) => line.QMP !== undefined, limitMs);
    socket.send({ execute: "qmp_capabilities" });
    await socket.receive((line) => line.return !== undefined, limitMs);
    for (const command of commands) {
      socket.send({ execute: "human-monitor-command", arguments: { "command-line": command } });
      const answer = await socket.receive((line) => "return" in line || "error" in line, limitMs);
      // This console answers with nothing where all is well.
      if (answer.return !== "")
        throw new EscapementError("E_LAB_STEP", {
          step: `${command} of a virtual machine`,
          reason: String(answer.return ?? JSON.stringify(answer.error)).trim(),
        });
    }
  } finally {
    socket.close();
  }
}
