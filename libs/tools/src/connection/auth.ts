/** The credential of one call, as the composition root obtained it. */
export interface CallCredential {
  readonly connectionId: string;
  /** The one in use now. */
  readonly token: string;
  /** Asks for another one, since the outside did not accept this; once a call. False: there is no other. */
  renew(): Promise<boolean>;
}

/** The credential itself, for tools that must have it. Prefer ConnectionClientFactory. */
export interface AuthCapability {
  /** Throws for any connection but the call's own. */
  getAccessToken(connectionId: string): Promise<string>;
  getAuthHeaders(connectionId: string): Promise<Readonly<Record<string, string>>>;
  /** After a 401: whether there is another credential now. At most once a call. */
  renew(connectionId: string): Promise<boolean>;
}

/** Makes clients that carry the credential, so that the tool never sees it. */
export interface ConnectionClientFactory {
  /** Throws for any connection but the call's own. */
  for(connectionId: string): ConnectionClient;
}

export interface ConnectionClient {
  /** As the global fetch, with the credential as the header `authorization`; on 401 it is renewed once and the request repeated. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

export function authOf(credential: CallCredential): AuthCapability {
  return Object.freeze({
    getAccessToken: async (connectionId: string) => own(credential, connectionId).token,
    getAuthHeaders: async (connectionId: string) => headerOf(own(credential, connectionId)),
    renew: async (connectionId: string) => own(credential, connectionId).renew(),
  });
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
  const send = (): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('authorization', headerOf(credential).authorization);
    return fetch(url, { ...init, headers, signal: init.signal ? AbortSignal.any([init.signal, signal]) : signal });
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
