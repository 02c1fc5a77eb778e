/** A drill whose output nobody reads any more goes on: a fault may be on, and it has its verdict and its files to leave. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { isatty } from "node:tty";

/** Of a reader that goes away (`| head`), and of a terminal that does. For the rest of the process. */
export function goOnUnheard(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners("error");
    stream.on("error", () => {});
  }
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  process.once("exit", () => {
    // At its end Node sets terminals back as it found them, and aborts when one is gone: exit code and all.
    for (const fd of terminals.filter((fd) => !isatty(fd))) {
      closeSync(fd);
      // The lowest number that is free: the same one.
      openSync(devNull, "r+");
    }
  });
}
