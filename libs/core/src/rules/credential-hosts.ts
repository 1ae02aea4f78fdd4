import { ToolUserError } from '../tool/types.js';

/** Whether a credential for these schemes, hosts and ports may go to the address. */
export function isNamed(url: URL, hosts: readonly string[]): boolean {
  return hosts.some((host) => URL.canParse(host) && new URL(host).origin === url.origin);
}

/** The address, if the connection’s credential may go there. Throws ToolUserError with what to configure. */
export function requireNamed(
  address: string | URL | undefined,
  { connectionId, hosts }: { readonly connectionId: string; readonly hosts: readonly string[] },
): URL {
  if (address === undefined || !URL.canParse(String(address)))
    throw new ToolUserError(
      'Say which address the credential is for: getAccessToken(connectionId, url), getAuthHeaders(connectionId, url).',
    );
  const url = new URL(address);
  if (isNamed(url, hosts)) return url;
  const { origin } = url;
  throw new ToolUserError(
    `The credential of the connection ${connectionId} does not go to ${origin}. If it shall, write "${origin.replace(/^https:\/\//, '')}" under connections.${connectionId}.hosts.`,
  );
}

interface Asked {
  readonly headers?: Iterable<[string, string]>;
}

/** Gives requests to the origin of this address the token, and others none, whatever a server calls its own. */
export function bearerAt(home: URL, token: string | null) {
  return <A extends Asked>(to: string | URL, asked: A): A => {
    const headers = [...(asked.headers ?? [])].filter(([name]) => name.toLowerCase() !== 'authorization');
    if (token !== null && isNamed(new URL(to, home), [home.origin])) headers.push(['authorization', `Bearer ${token}`]);
    return { ...asked, headers };
  };
}
