/**
 * Reads keys from the terminal, without its echo and its own line editing.
 * It begins at once: what is typed while the first frame is drawn is not lost.
 */
import { KeyReader, type Typed } from "./keys.ts";

/** The rest of a code follows at once, also over a slow line; escape alone must not seem slow. */
const codeMs = 30;

/** @param say told of each key and each paste, in order. @returns ends it */
export function readKeys(stdin: NodeJS.ReadStream, say: (typed: Typed) => void): () => void {
  const reader = new KeyReader();
  let timer: NodeJS.Timeout | undefined;
  const take = (piece: string) => {
    clearTimeout(timer);
    for (const typed of reader.read(piece)) say(typed);
    if (reader.waits)
      timer = setTimeout(() => {
        for (const typed of reader.flush()) say(typed);
      }, codeMs);
  };
  stdin.setEncoding("utf8");
  stdin.setRawMode(true);
  stdin.on("data", take);
  return () => {
    clearTimeout(timer);
    stdin.off("data", take);
    stdin.pause();
  };
}
