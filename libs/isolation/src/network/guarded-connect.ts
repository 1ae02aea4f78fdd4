import { lookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { Agent, Pool } from 'undici';
import { isPublic } from './addresses.js';

/** Finds the addresses of a host, as `dns.lookup` does with `all`. */
export type Resolve = (host: string, callback: (error: Error | null, addresses: LookupAddress[]) => void) => void;

const systems: Resolve = (host, callback) => lookup(host, { all: true }, (error, found) => callback(error, found));

const connectMs = 10_000;

/** What keeps connections to the public internet, and to the hosts that the configuration names. */
export interface GuardedConnect {
  /**
   * Opens up to so many connections to each host and port. It looks at the address to which a connection is opened,
   * so that a name that resolves differently the next time gains nothing.
   */
  agent(connections: number): Agent;
  isNamed(url: URL): boolean;
  /** What is wrong with an address that says so itself; null if that is nothing. */
  problemOf(url: URL): string | null;
  /** Why a connection was not opened, where it was this that did not let it. */
  whyOf(error: unknown): string | null;
}

/**
 * `privateHosts`: host, or host:port, that may be reached wherever they are; `setting` is where the configuration has
 * them.
 */
export function guardedConnect(
  privateHosts: readonly string[],
  resolve: Resolve = systems,
  setting = 'web.private_hosts',
): GuardedConnect {
  const named = new Set(privateHosts.map((each) => each.toLowerCase()));
  const isNamed = ({ protocol, hostname, port }: URL): boolean =>
    named.has(hostname) || named.has(`${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`);
  const lookupFor = (origin: URL): LookupFunction => {
    const isPermitted = isNamed(origin);
    return (host, { all }, callback) => {
      resolve(host, (error, addresses) => {
        if (error !== null) return callback(error, '', 4);
        const isOpen = isPermitted || addresses.every(({ address }) => isPublic(address));
        const [first] = addresses;
        if (!isOpen || first === undefined) return callback(new NotPublicError(host, setting), '', 4);
        if (all === true) return callback(null, addresses);
        callback(null, first.address, first.family);
      });
    };
  };
  return {
    isNamed,
    agent: (connections) =>
      new Agent({
        factory: (origin) => {
          const connect = { timeout: connectMs, lookup: lookupFor(new URL(origin)) };
          return new Pool(origin, { connections, pipelining: 1, connect });
        },
      }),
    problemOf: (url) => {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      // A literal address is connected to without a lookup.
      return !isNamed(url) && isIP(host) !== 0 && !isPublic(host) ? notPublic(url.hostname, setting) : null;
    },
    whyOf: (error) => {
      for (let cause: unknown = error; cause instanceof Object; cause = (cause as { cause?: unknown }).cause)
        if (cause instanceof NotPublicError) return cause.message;
      return null;
    },
  };
}

class NotPublicError extends Error {
  override readonly name = 'NotPublicError';
  constructor(host: string, setting: string) {
    super(notPublic(host, setting));
  }
}

function notPublic(host: string, setting: string): string {
  return `${host} is not on the public internet, so it is not fetched. ${setting} in the configuration can permit it.`;
}
