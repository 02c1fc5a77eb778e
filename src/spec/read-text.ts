/** Reads a definition file as text: UTF-8 or a problem that says where it is not. */
import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { messageOf } from "../base/errors.ts";
import type { Problem } from "./problem.ts";

/** A definition is written by people; whatever is larger is not one. */
const maxFileBytes = 4 * 1024 * 1024;
/** A named pipe is opened at once, and then seen to be none of ours, instead of waiting for whoever writes. */
const readAtOnce = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The text without its byte order mark, or what is wrong. Never throws. */
export async function readText(file: string): Promise<{ text: string } | { problem: Problem }> {
  const problem = (message: string, line = 0, column = 0) => ({
    problem: { file, line, column, path: "", message },
  });
  let bytes: Buffer;
  try {
    const handle = await open(file, readAtOnce);
    try {
      const { size, isFile } = await handle
        .stat()
        .then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
      if (!isFile) return problem("is not a regular file");
      if (size > maxFileBytes) return problem(`is larger than ${maxFileBytes / 1024 / 1024} MiB`);
      bytes = await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (error) {
    return problem(`cannot be read: ${messageOf(error)}`);
  }
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    return problem("is UTF-16; save it as UTF-8", 1, 1);
  if (!isUtf8(bytes)) {
    const { line, column } = firstBadByte(bytes);
    return problem("is not UTF-8 from here on; save it as UTF-8", line, column);
  }
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  const control = text.search(/[^\t\n\r\x20-\uFFFF]/);
  if (control >= 0) {
    const before = text.slice(0, control).split("\n");
    const code = text.charCodeAt(control).toString(16).padStart(2, "0");
    return problem(`contains the control character 0x${code}`, before.length, before.at(-1)!.length + 1);
  }
  return { text };
}

function firstBadByte(bytes: Buffer): { line: number; column: number } {
  let start = 0;
  for (let line = 1; ; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    const part = bytes.subarray(start, end);
    if (!isUtf8(part) || newline < 0) {
      let good = part.length;
      while (good > 0 && !isUtf8(part.subarray(0, good))) good--;
      return { line, column: part.subarray(0, good).toString("utf8").length + 1 };
    }
    start = newline + 1;
  }
}
