import type { Socket } from 'node:net';

/** Whether a connection comes from this machine. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::1)$/.test(address);
}

/** The address that a connection counts as coming from, where it matters whether that is this machine. */
export function peerOf(
  { remoteAddress }: Pick<Socket, 'remoteAddress'>,
  { publishedOnLoopback }: { readonly publishedOnLoopback: boolean },
): string | undefined {
  return publishedOnLoopback ? '127.0.0.1' : remoteAddress;
}

/**
 * Why a request from another machine is refused while no identity is configured, when every caller would be the one
 * local principal.
 */
export const otherMachine =
  'The request comes from another machine. Configure an identity (docs/configuration.md, identity), so that callers send a credential; without one only this machine may call. A container whose ports are published on 127.0.0.1 alone is started with SLUICE_PUBLISHED_ON_LOOPBACK=true.';
