/**
 * A store's URL as it may stand on a screen. Any form that PostgreSQL knows passes,
 * also several hosts and a socket's folder, which no general parser of URLs takes.
 */
export function urlWithoutPassword(url: string): string {
  return url
    .replace(/^([a-z]+:\/\/[^/?:@]*):[^/?]*@/i, "$1@")
    .replace(/([?&])password=[^&]*&?/gi, "$1")
    .replace(/[?&]$/, "");
}
