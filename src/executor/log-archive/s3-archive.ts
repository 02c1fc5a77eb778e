/**
 * An archive in an S3-compatible store, by two requests a file: PUT, and HEAD
 * to see that it is there. Signed with AWS Signature Version 4; paths in place
 * of bucket host names, since every implementation takes them.
 */
import { createHash, createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { EscapementError, isEscapementError, messageOf } from "../../base/errors.ts";
import type { ArchiveItem, LogArchive } from "./archive.ts";

export interface S3Settings {
  /** Scheme, host and port, for example https://s3.example.com. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Stands before every key; may be empty. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

const requestLimitMs = 120_000;
const digestHeader = "x-amz-meta-sha256";
const emptySha256 = sha256("");

export class S3Archive implements LogArchive {
  readonly place: string;
  readonly #settings: S3Settings;

  constructor(settings: S3Settings) {
    this.#settings = settings;
    this.place = `s3://${settings.bucket}/${settings.prefix}`.replace(/\/$/, "");
  }

  async store(item: ArchiveItem): Promise<void> {
    const place = `${this.place}/${item.key}`;
    try {
      const body = await readFile(item.file);
      const put = await this.#request("PUT", item.key, item.sha256, { [digestHeader]: item.sha256 }, body);
      if (!put.ok) throw refused(place, put.status, await put.text());
      const head = await this.#request("HEAD", item.key, emptySha256, {});
      if (!head.ok) throw refused(place, head.status, "it was taken and is not there");
      const size = Number(head.headers.get("content-length"));
      const digest = head.headers.get(digestHeader);
      if (size !== item.sizeBytes || digest !== item.sha256)
        throw refused(place, head.status, `it has ${size} bytes and digest ${digest ?? "none"}`);
    } catch (error) {
      if (isEscapementError(error)) throw error;
      throw new EscapementError("E_LOG_ARCHIVE", { place, reason: messageOf(error) }, { cause: error });
    }
  }

  async prune(): Promise<null> {
    return null;
  }

  #request(
    method: string,
    key: string,
    payloadSha256: string,
    extra: Record<string, string>,
    body?: Uint8Array<ArrayBuffer>,
  ): Promise<Response> {
    const { endpoint, bucket, prefix, sessionToken } = this.#settings;
    const path = [bucket, ...prefix.split("/"), ...key.split("/")].filter((part) => part !== "");
    const url = new URL(`/${path.map(encodePart).join("/")}`, endpoint);
    const headers: Record<string, string> = {
      ...extra,
      host: url.host,
      "x-amz-content-sha256": payloadSha256,
      "x-amz-date": new Date().toISOString().replace(/[-:]|\.\d+/g, ""),
      ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
    };
    const authorization = sign(this.#settings, method, url.pathname, headers, payloadSha256);
    const { host: _, ...sent } = headers;
    return fetch(url, {
      method,
      headers: { ...sent, authorization },
      signal: AbortSignal.timeout(requestLimitMs),
      redirect: "error",
      ...(body === undefined ? {} : { body }),
    });
  }
}

/**
 * The Authorization header of Signature Version 4, for a request without a query.
 * @param path percent-encoded
 * @param headers with lower-case names; all of them are signed
 */
export function sign(
  settings: Pick<S3Settings, "region" | "accessKeyId" | "secretAccessKey">,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  payloadSha256: string,
): string {
  const names = Object.keys(headers).sort();
  const instant = headers["x-amz-date"]!;
  const day = instant.slice(0, 8);
  const scope = `${day}/${settings.region}/s3/aws4_request`;
  const canonical = [
    method,
    path,
    "",
    ...names.map((name) => `${name}:${headers[name]!.trim()}`),
    "",
    names.join(";"),
    payloadSha256,
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", instant, scope, sha256(canonical)].join("\n");
  const key = [day, settings.region, "s3", "aws4_request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${settings.secretAccessKey}`,
  );
  const signature = createHmac("sha256", key).update(text).digest("hex");
  return `AWS4-HMAC-SHA256 Credential=${settings.accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
}

function refused(place: string, status: number, text: string): EscapementError {
  const code = /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? text.slice(0, 200);
  return new EscapementError("E_LOG_ARCHIVE", { place, reason: `status ${status}: ${code}` });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** RFC 3986: what encodeURIComponent leaves alone and the signature does not. */
function encodePart(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
