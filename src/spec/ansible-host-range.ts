/** Host patterns as Ansible writes them: `web[01:50].example`, `db-[a:f]`, `x[1:9:2]`, with a port behind a colon. */

/** One pattern stands for at most this many hosts. */
const mostOfOne = 10_000;

/** @returns the names, or what is wrong with the pattern */
export function expandHostPattern(pattern: string): readonly string[] | string {
  const match = /^(.*?)\[([^\]]*)\](.*)$/s.exec(pattern);
  if (!match) return /[[\]]/.test(pattern) ? "has a bracket without its partner" : [pattern];
  const [, before, range, after] = match;
  const words = expandRange(range!);
  if (typeof words === "string") return words;
  const rest = expandHostPattern(after!);
  if (typeof rest === "string") return rest;
  if (words.length * rest.length > mostOfOne) return `stands for more than ${mostOfOne} hosts`;
  return words.flatMap((word) => rest.map((tail) => `${before}${word}${tail}`));
}

function expandRange(range: string): readonly string[] | string {
  const match = /^(\w*):(\w+)(?::(\d+))?$/.exec(range);
  if (!match) return `[${range}] is not a range such as [01:50] or [a:f]`;
  const [, from = "", to = "", stepText = "1"] = match;
  const step = Number(stepText);
  if (step < 1) return `[${range}] has a step of 0`;
  if (/^[a-zA-Z]$/.test(from) && /^[a-zA-Z]$/.test(to)) {
    return count(from.charCodeAt(0), to.charCodeAt(0), step, range, (code) => String.fromCharCode(code));
  }
  if (!/^\d{0,9}$/.test(from) || !/^\d{1,9}$/.test(to))
    return `[${range}] is not a range such as [01:50] or [a:f]`;
  // A zero in front asks for that many digits, and then both ends must have as many.
  const width = from.startsWith("0") && from.length > 1 ? from.length : 0;
  if (width > 0 && to.length !== width) return `[${range}] has ends of different length`;
  return count(Number(from || 0), Number(to), step, range, (value) => String(value).padStart(width, "0"));
}

function count(
  from: number,
  to: number,
  step: number,
  range: string,
  write: (value: number) => string,
): readonly string[] | string {
  if (from > to) return `[${range}] ends before it begins`;
  if ((to - from) / step >= mostOfOne) return `[${range}] stands for more than ${mostOfOne} hosts`;
  const words: string[] = [];
  for (let value = from; value <= to; value += step) words.push(write(value));
  return words;
}

/** Takes a port off the end of a pattern: `host:2222`, `[::1]:22`; an address of IPv6 has none. */
export function splitPort(pattern: string): { readonly host: string; readonly port?: number } {
  const six = /^\[([0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)\](?::(\d{1,5}))?$/.exec(pattern);
  if (six) return { host: six[1]!, ...(six[2] !== undefined && { port: Number(six[2]) }) };
  const plain = /^([^:]*(?:\[[^\]]*\][^:[]*)*):(\d{1,5})$/.exec(pattern);
  return plain ? { host: plain[1]!, port: Number(plain[2]) } : { host: pattern };
}
