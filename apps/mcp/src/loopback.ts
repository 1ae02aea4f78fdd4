import type { IncomingMessage } from 'node:http';
import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server';
import { hostProblem, isLoopback, otherMachine, peerOf } from '@sluice/host';
import type { Environment } from '@sluice/host';

/** What of a request says where it comes from. */
export interface Origin {
  readonly remoteAddress: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

const needsIdentity =
  'Configure an identity (docs/configuration.md, identity), so that callers send a credential; without one only this machine may call.';

/**
 * Why a request may not be served while no identity is configured, null if it may: everybody would be the one local
 * user, so that it must come from this machine, and from no page that a browser shows under another name (DNS
 * rebinding).
 */
export function strangerProblem(
  { remoteAddress, host, origin }: Origin,
  environment: Pick<Environment, 'allowedHosts'>,
): string | null {
  if (!isLoopback(remoteAddress)) return otherMachine;
  const foreign = hostProblem(host, environment);
  if (foreign !== null) return foreign;
  if (!validateOriginHeader(origin, localhostAllowedOrigins()).ok)
    return `The request comes from a page of another origin. ${needsIdentity}`;
  return null;
}

/** As strangerProblem, for a request as it came. */
export function strangerOf(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  environment: Environment,
): string | null {
  const remoteAddress = peerOf(socket, environment);
  return strangerProblem({ remoteAddress, host: headers.host, origin: headers.origin }, environment);
}

/**
 * Why a request from a page of this origin may not be served although it may have a credential: pages are served that
 * this machine shows, and those of the server’s own public address. Null if it may, or comes from no page.
 */
export function originProblem(origin: string | undefined, resource: string): string | null {
  return validateOriginHeader(origin, [...localhostAllowedOrigins(), ...publicNames(resource)]).ok
    ? null
    : 'The request comes from a page of another origin. Serve the page from the address that identity.audience names, or call from a program.';
}

/** The name of the server’s own public address, as a list; empty where it is none. */
export function publicNames(resource: string): readonly string[] {
  return URL.canParse(resource) ? [new URL(resource).hostname] : [];
}
