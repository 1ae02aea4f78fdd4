import { fetchChecked } from './follow.js';
import { requireNamed } from '@sluice/core';

/** The credential of one call, as the composition root obtained it. */
export interface CallCredential {
  readonly connectionId: string;
  /** Where it may go: schemes, hosts and ports. */
  readonly hosts: readonly string[];
  /** The one in use now. */
  readonly token: string;
  /** Asks for another one, since the outside did not accept this; once a call. False: there is no other. */
  renew(): Promise<boolean>;
}

/** The credential itself, for tools that must have it. Prefer ConnectionClientFactory. */
export interface AuthCapability {
  /** Throws for any connection but the call's own, and for an address to which its credential does not go. */
  getAccessToken(connectionId: string, url: string | URL): Promise<string>;
  getAuthHeaders(connectionId: string, url: string | URL): Promise<Readonly<Record<string, string>>>;
  /** After a 401: whether there is another credential now. At most once a call. */
  renew(connectionId: string): Promise<boolean>;
}

/** What Sluice’s own parts have beside that; no tool’s process can ask for it. */
export interface OwnAuth extends AuthCapability {
  /** For the MCP server of the call, whose transport sends it to the server’s own address alone. */
  forServer(connectionId: string): Promise<string>;
  /** Throws ToolUserError where a request with the credential in it would go elsewhere. */
  requireOwnHost(request: Carrying, url: URL): void;
}

/** Where a request may carry something. */
interface Carrying {
  readonly url: string;
  readonly headers: Iterable<readonly [string, string]>;
  /** Base64. */
  readonly body: string | null;
}

/** Makes clients that carry the credential, so that the tool never sees it. */
export interface ConnectionClientFactory {
  /** Throws for any connection but the call's own. */
  for(connectionId: string): ConnectionClient;
}

export interface ConnectionClient {
  /**
   * As the global fetch, with the credential as the header `authorization`; on 401 it is renewed once and the request
   * repeated. Only hosts that the connection names are asked, also where one redirects.
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

export function authOf(credential: CallCredential): OwnAuth {
  const given = new Set<string>();
  const give = (connectionId: string): CallCredential => {
    const mine = own(credential, connectionId);
    given.add(mine.token);
    return mine;
  };
  const giveFor = (connectionId: string, url: string | URL): CallCredential => {
    requireNamed(url, own(credential, connectionId));
    return give(connectionId);
  };
  return Object.freeze({
    getAccessToken: async (connectionId: string, url: string | URL) => giveFor(connectionId, url).token,
    getAuthHeaders: async (connectionId: string, url: string | URL) => headerOf(giveFor(connectionId, url)),
    renew: async (connectionId: string) => own(credential, connectionId).renew(),
    forServer: async (connectionId: string) => own(credential, connectionId).token,
    requireOwnHost: (request: Carrying, url: URL) => {
      if ([...given].some((token) => carries(request, token))) requireNamed(url, credential);
    },
  });
}

/** As it is, as it stands in addresses, and in base 64, alone or behind a user’s name. */
function carries({ url, headers, body }: Carrying, token: string): boolean {
  const holds = (text: string): boolean => text.includes(token) || text.includes(encodeURIComponent(token));
  if (body !== null && holds(Buffer.from(body, 'base64').toString('latin1'))) return true;
  return [url, ...[...headers].flat()].some(
    (text) =>
      holds(text) ||
      (text.match(/[\w+/-]{8,}/g) ?? []).some((part) => holds(Buffer.from(part, 'base64').toString('latin1'))),
  );
}

/** `signal` ends every request with its call. */
export function clientsOf(credential: CallCredential, signal: AbortSignal): ConnectionClientFactory {
  return Object.freeze({
    for: (connectionId: string) => {
      own(credential, connectionId);
      return Object.freeze({
        fetch: (url: string | URL, init: RequestInit = {}) => authorized(url, init, credential, signal),
      });
    },
  });
}

async function authorized(
  url: string | URL,
  init: RequestInit,
  credential: CallCredential,
  signal: AbortSignal,
): Promise<Response> {
  const address = requireNamed(url, credential);
  const send = (): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('authorization', headerOf(credential).authorization);
    const ends = init.signal ? AbortSignal.any([init.signal, signal]) : signal;
    return fetchChecked(address, { ...init, headers, signal: ends }, (next) => requireNamed(next, credential));
  };
  const response = await send();
  // A stream is used up when it has been sent, so it cannot be sent again.
  if (response.status !== 401 || init.body instanceof ReadableStream || !(await credential.renew())) return response;
  await response.body?.cancel();
  return send();
}

function headerOf({ token }: CallCredential): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

function own(credential: CallCredential, connectionId: string): CallCredential {
  if (connectionId === credential.connectionId) return credential;
  throw new Error('A call may use the connection of its context and no other.');
}
