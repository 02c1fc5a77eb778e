/**
 * A release of the toolkit: what one folder below /opt/escapement/versions
 * holds. Made from what runs now: the bundle, and the Node binary that runs it,
 * so that a host needs neither the internet nor a Node of its own.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { sha256Of } from "./share-archive.ts";

/** One file of a release. */
export interface ReleaseFile {
  /** Its name in the folder. */
  readonly name: "escapement.mjs" | "ui.mjs" | "share.tar" | "node" | "manifest.json";
  readonly content: { readonly file: string } | { readonly bytes: Uint8Array };
  /** Lower-case hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface Release {
  /** Name of the folder: the product's version, and twelve digits that stand for the content. */
  readonly version: string;
  /** What `uname -m` must say on the host. */
  readonly machine: string;
  /** The manifest last: without it a folder is not a release. */
  readonly files: readonly ReleaseFile[];
}

export interface ReleaseSource {
  /** The product's own version, for example 0.1.0. */
  readonly productVersion: string;
  /** The bundled program: one file that needs no node_modules. */
  readonly bundleFile: string;
  /** The screens, which the program loads only for its command `ui`; absent: a release without them. */
  readonly screensFile?: string;
  /** Profiles, playbooks and drills, as share-archive.ts makes it; unpacked beside the program. Absent: without. */
  readonly share?: Uint8Array;
  /** The Node binary that goes with it. */
  readonly nodeFile: string;
  /** Node's name of the architecture, as `process.arch` has it. */
  readonly arch: string;
}

/** Node's names of architectures in the kernel's words. */
const machines: Readonly<Record<string, string>> = {
  x64: "x86_64",
  arm64: "aarch64",
  ppc64: "ppc64le",
  s390x: "s390x",
};

/**
 * Reads and sums the files.
 * @throws E_FILE_UNREADABLE; E_UNAVAILABLE for an architecture that no host can have
 */
export async function buildRelease(source: ReleaseSource): Promise<Release> {
  const machine = machines[source.arch];
  if (machine === undefined)
    throw new EscapementError("E_UNAVAILABLE", {
      what: `there is no release for the architecture ${source.arch}`,
      hint: `deploy from a machine of one of: ${Object.keys(machines).join(", ")}`,
    });
  const contents = await Promise.all([
    fileOf("escapement.mjs", source.bundleFile),
    fileOf("node", source.nodeFile),
    ...(source.screensFile === undefined ? [] : [fileOf("ui.mjs", source.screensFile)]),
    ...(source.share === undefined ? [] : [bytesOf("share.tar", source.share)]),
  ]);
  const sums = contents.map(({ sha256 }) => sha256).join(" ");
  const digest = createHash("sha256").update(sums).digest("hex").slice(0, 12);
  const version = `${source.productVersion}-${digest}`;
  const manifest = new TextEncoder().encode(
    `${JSON.stringify(
      {
        schemaVersion: 1,
        version,
        productVersion: source.productVersion,
        machine,
        files: Object.fromEntries(contents.map(({ name, sha256 }) => [name, sha256])),
      },
      null,
      2,
    )}\n`,
  );
  return {
    version,
    machine,
    files: [...contents, bytesOf("manifest.json", manifest)],
  };
}

function bytesOf(name: ReleaseFile["name"], bytes: Uint8Array): ReleaseFile {
  return { name, content: { bytes }, sha256: sha256Of(bytes), sizeBytes: bytes.byteLength };
}

async function fileOf(name: ReleaseFile["name"], file: string): Promise<ReleaseFile> {
  try {
    const hash = createHash("sha256");
    for await (const part of createReadStream(file)) hash.update(part as Uint8Array);
    return { name, content: { file }, sha256: hash.digest("hex"), sizeBytes: (await stat(file)).size };
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
}
