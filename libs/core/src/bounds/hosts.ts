/** What one reader of an address takes for a part of the host and another does not. */
const ambiguous = /[\\\s\p{Cc}]/u;

/**
 * Whether the text is an address at one of these hosts. One that readers of addresses take differently, or that
 * carries a user, is at none.
 */
export function isWithinHosts(text: string, hosts: readonly string[]): boolean {
  if (ambiguous.test(text) || !/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) || !URL.canParse(text)) return false;
  const { hostname, username, password } = new URL(text);
  const host = hostname.toLowerCase().replace(/\.$/, '');
  if (host === '' || username !== '' || password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text)) return false;
  return hosts.some((one) => {
    const named = one.toLowerCase();
    return named.startsWith('*.') ? host.endsWith(named.slice(1)) && host.length > named.length - 1 : host === named;
  });
}
