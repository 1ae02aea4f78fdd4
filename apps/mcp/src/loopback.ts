import type { IncomingMessage } from 'node:http';
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server';
import { isLoopback, otherMachine, peerOf } from '@sluice/host';
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
 * Why a request may not be served while no identity is configured, null if it may: everybody would be the one local user, so that it must
 * come from this machine, and from no page that a browser shows under another name (DNS rebinding).
 */
export function strangerProblem({ remoteAddress, host, origin }: Origin): string | null {
  if (!isLoopback(remoteAddress)) return otherMachine;
  if (!validateHostHeader(host, localhostAllowedHostnames()).ok)
    return `The header \`host\` names another machine than this one. ${needsIdentity}`;
  if (!validateOriginHeader(origin, localhostAllowedOrigins()).ok)
    return `The request comes from a page of another origin. ${needsIdentity}`;
  return null;
}

/** As strangerProblem, for a request as it came. */
export function strangerOf(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  environment: Environment,
): string | null {
  return strangerProblem({ remoteAddress: peerOf(socket, environment), host: headers.host, origin: headers.origin });
}

/**
 * Why a request from a page of this origin may not be served although it may have a credential: pages are served that this machine shows, and
 * those of the server’s own public address. Null if it may, or comes from no page.
 */
export function originProblem(origin: string | undefined, resource: string): string | null {
  const own = URL.canParse(resource) ? [new URL(resource).hostname] : [];
  return validateOriginHeader(origin, [...localhostAllowedOrigins(), ...own]).ok
    ? null
    : 'The request comes from a page of another origin. Serve the page from the address that identity.audience names, or call from a program.';
}
