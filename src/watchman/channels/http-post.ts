/** One HTTP request of a channel: posted, timed, judged by its status. */
import { messageOf } from "../../base/errors.ts";
import { reasonWithout } from "../secret.ts";
import { type Acceptance, accepted } from "./channel.ts";

export interface Post {
  readonly url: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Never shown. The URL's path and query count as secrets always. */
  readonly secrets?: readonly string[];
}

/** Too many requests and the like: the same message may be accepted later. */
const tryLater = new Set([401, 403, 404, 407, 408, 409, 423, 425, 429]);

/**
 * A status of 200 to 299 is an acceptance, nothing else is; redirects are not
 * followed, because the one who answers them is not the one who was named.
 */
export async function post({ url, body, headers, timeoutMs, secrets = [] }: Post): Promise<Acceptance> {
  const hidden = [...secrets, url, ...pathOf(url)];
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "user-agent": "escapement-watchman", ...headers },
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = await beginningOf(response).catch(() => "");
    if (response.status >= 200 && response.status < 300) return accepted;
    return {
      accepted: false,
      rejected: response.status >= 400 && response.status < 500 && !tryLater.has(response.status),
      reason: reasonWithout(hidden, `HTTP ${response.status} ${answer}`),
    };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    return {
      accepted: false,
      rejected: false,
      reason: timedOut ? `no answer within ${timeoutMs} ms` : reasonWithout(hidden, messageOf(cause)),
    };
  }
}

/** A reason is short, and an answer may be endless: no more of it is taken into memory. */
const mostAnswerBytes = 4_096;

async function beginningOf({ body }: Response): Promise<string> {
  if (!body) return "";
  const parts: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop cancels the rest.
  for await (const part of body) {
    parts.push(part.subarray(0, mostAnswerBytes - length));
    length += part.length;
    if (length >= mostAnswerBytes) break;
  }
  return Buffer.concat(parts).toString("utf8");
}

function pathOf(url: string): string[] {
  try {
    const { pathname, search, username, password } = new URL(url);
    return [pathname, search, username, password].filter((part) => part.length > 1);
  } catch {
    return [];
  }
}

/** For channels: what goes wrong before the request (a secret that is not there) is no acceptance either. */
export async function attempt(work: () => Promise<Acceptance>): Promise<Acceptance> {
  try {
    return await work();
  } catch (error) {
    return { accepted: false, rejected: false, reason: reasonWithout([], messageOf(error)) };
  }
}
