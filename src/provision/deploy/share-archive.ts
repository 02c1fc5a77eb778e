/**
 * The data that goes along with the program, as one ustar archive: the same
 * folders give the same bytes, wherever and whenever it is made.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";

const block = 512;
const longestName = 99;

/**
 * @param root folder that holds the others
 * @param folders their names; all of their plain files go along
 * @throws E_FILE_UNREADABLE, E_BAD_DATA for a path that is too long for the format
 */
export function shareArchive(root: string, folders: readonly string[]): Uint8Array {
  const names = folders.flatMap((folder) => filesBelow(root, folder)).sort();
  const parts = names.flatMap((name) => {
    const content = readFileSync(join(root, name));
    return [header(name, content.length), content, Buffer.alloc((block - (content.length % block)) % block)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

/** Lower-case hex. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function filesBelow(root: string, folder: string): string[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const name = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(root, name) : entry.isFile() ? [name] : [];
    });
  } catch (error) {
    const file = join(root, folder);
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
}

/** Fields of POSIX ustar. Owner root, for everybody to read; no time, so that nothing differs. */
function header(name: string, sizeBytes: number): Buffer {
  if (Buffer.byteLength(name) > longestName)
    throw new EscapementError("E_BAD_DATA", {
      what: `${name} is too long a path for a release`,
      hint: `keep it below ${longestName + 1} bytes`,
    });
  const head = Buffer.alloc(block);
  const octal = (value: number, at: number, length: number) =>
    head.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
  head.write(name, 0);
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(sizeBytes, 124, 12);
  octal(0, 136, 12);
  head.write("        ", 148);
  head.write("0", 156);
  head.write("ustar\0", 257);
  head.write("00", 263);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return head;
}
