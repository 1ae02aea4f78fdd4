import type { IncomingMessage, Server } from 'node:http';
import { isLoopback } from './loopback.js';

/** The process’s environment, as far as it is asked here. */
interface Names {
  readonly allowedHosts: readonly string[];
}

/**
 * Why a request with this `Host` is refused where only this machine may ask; null if it is served. A page that a
 * browser shows under a name of its own can bring that name to a loopback address (DNS rebinding), and then reads
 * what it gets: its `Host` gives it away.
 */
export function hostProblem(host: string | undefined, { allowedHosts }: Names): string | null {
  const name = nameOf(host);
  if (name !== null && (name === 'localhost' || isLoopback(name) || allowedHosts.includes(name))) return null;
  return 'The header `host` names another machine than this one. Ask by localhost or 127.0.0.1; if this address is reached by a further name, put it into SLUICE_ALLOWED_HOSTS.';
}

/**
 * As hostProblem, for all requests to a server that listens on loopback alone. A server on another address serves
 * every name.
 */
export function guardHost(
  server: Server,
  environment: Names,
  further: () => readonly string[] = () => [],
): (request: Pick<IncomingMessage, 'headers'>) => string | null {
  return ({ headers }) => {
    const listening = server.address();
    if (listening === null || typeof listening === 'string' || !isLoopback(listening.address)) return null;
    return hostProblem(hostOf(headers), { allowedHosts: [...environment.allowedHosts, ...further()] });
  };
}

/** The host that a request names, in either version of HTTP. */
export function hostOf(headers: IncomingMessage['headers']): string | undefined {
  const authority = headers[':authority'];
  return headers.host ?? (typeof authority === 'string' ? authority : undefined);
}

/** The name without its port, as allowedHosts has it; null where it is none. */
export function nameOf(host: string | undefined): string | null {
  if (host === undefined || /[/?#@\\\s]/.test(host) || !URL.canParse(`http://${host}`)) return null;
  const name = new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return name === '' ? null : name;
}
