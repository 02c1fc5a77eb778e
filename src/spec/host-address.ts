/** `user@address:port` as jump hosts are written, IPv6 in brackets. */

export interface HostAddress {
  readonly user?: string;
  readonly address: string;
  readonly port?: number;
}

/** A host name or an IP address: no space, no control character, no brackets, and nothing that looks like an option. */
export const hostPattern = /^[^\s\p{C}@[\]-][^\s\p{C}@[\]]*$/u;

/** A user to log in as, a domain's (`user@domain`, `DOMAIN\user`) included. */
export const userPattern = /^[^\s\p{C}-][^\s\p{C}]*$/u;

/** @returns undefined where the text is not of that form */
export function parseHostAddress(text: string): HostAddress | undefined {
  const match = /^(?:([^\s@]+)@)?(?:\[([0-9A-Fa-f:.]+(?:%\w+)?)\]|([^\s@:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  if (!match) return undefined;
  const [, user, six, plain, portText] = match;
  if ((user !== undefined && !userPattern.test(user)) || !hostPattern.test(six ?? plain!)) return undefined;
  const port = portText === undefined ? undefined : Number(portText);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  return {
    ...(user !== undefined && { user }),
    address: six ?? plain!,
    ...(port !== undefined && { port }),
  };
}
