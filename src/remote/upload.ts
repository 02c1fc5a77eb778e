/** Putting a file on a host through one command's input: beside its place, checked, made durable, renamed. */
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants } from "node:fs/promises";
import { Readable } from "node:stream";
import { EscapementError, messageOf } from "../base/errors.ts";
import type { CommandRequest } from "./command-run.ts";
import type { ExecResult, UploadRequest } from "./remote.ts";

/** What the script on the host ends with when the sums differ. */
const sumDiffers = 41;
const isFolder = 42;

/**
 * $1 path, $2 mode, $3 SHA-256, $4 name of the copy beside it. A connection
 * that breaks ends the input early: the sum is then another, and the copy goes.
 */
const script = `set -u
[ ! -d "$1" ] || exit ${isFolder}
umask 077
trap 'rm -f -- "$4"' EXIT
trap 'exit 1' HUP INT TERM
cat > "$4" || exit 1
sum=$(sha256sum < "$4") || exit 1
[ "\${sum%% *}" = "$3" ] || { echo "\${sum%% *}" >&2; exit ${sumDiffers}; }
chmod "$2" "$4" || exit 1
sync "$4" 2>/dev/null || sync
mv -f -- "$4" "$1" || exit 1
trap - EXIT
sync "\${1%/*}/" 2>/dev/null || sync
`;

/** Writes a file by means of `run`. @throws E_HOST_UPLOAD, and whatever `run` throws */
export async function uploadBy(
  run: (request: CommandRequest) => Promise<ExecResult>,
  host: string,
  request: UploadRequest,
): Promise<void> {
  const { content, path, mode, sha256 } = request;
  const fail = (reason: string, cause?: unknown) =>
    new EscapementError("E_HOST_UPLOAD", { host, path, reason }, cause === undefined ? {} : { cause });
  if (!path.startsWith("/")) throw fail("the path is not absolute");
  if ("file" in content) {
    try {
      await access(content.file, constants.R_OK);
    } catch (error) {
      throw fail(`the file to send cannot be read: ${messageOf(error)}`, error);
    }
  }
  const beside = `${path}.escapement-${randomBytes(6).toString("hex")}`;
  const octal = (mode & 0o7777).toString(8).padStart(4, "0");
  const result = await run({
    argv: ["sh", "-c", script, "upload", path, octal, sha256, beside],
    stdin: "file" in content ? () => createReadStream(content.file) : () => inPieces(content.bytes),
    ...(request.asRoot !== undefined && { asRoot: request.asRoot }),
    deadlineMs: request.deadlineMs,
  });
  if (result.exitCode === 0) return;
  if (result.exitCode === sumDiffers)
    throw fail(`the host has SHA-256 ${result.stderr.trim()}, wanted is ${sha256}`);
  if (result.exitCode === isFolder) throw fail("there is a folder of that name");
  const said = result.stderr.trim().split("\n").at(-1) ?? "";
  throw fail(said || `the host ended it with ${result.signal ?? result.exitCode}`);
}

/** Pieces of a size that a stream's own backpressure can act on. */
function inPieces(bytes: Uint8Array): Readable {
  const pieceBytes = 64 * 1024;
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
    })(),
    { objectMode: false },
  );
}
