/** Writes a result to the file that was asked for. */
import { writeFile } from "node:fs/promises";
import { EscapementError, messageOf } from "../../base/errors.ts";

/** @throws E_UNAVAILABLE when it cannot be written */
export async function saveFile(file: string, content: string | Buffer): Promise<void> {
  try {
    await writeFile(file, content);
  } catch (error) {
    throw new EscapementError(
      "E_UNAVAILABLE",
      { what: `cannot write ${file}: ${messageOf(error)}`, hint: "check the folder and the permissions" },
      { cause: error },
    );
  }
}
