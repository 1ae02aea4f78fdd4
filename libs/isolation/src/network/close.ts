import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import os from 'node:os';

/** What Node’s own code makes an error of, `EACCES`, in each of its interfaces. */
const refusal = -os.constants.errno.EACCES;

/**
 * Takes from the process the ways to a network that are left in Node: all sockets are made of three kinds of handles,
 * and whatever opens a connection, listens, or sends, does so by a method of theirs; so fetch, WebSocket, http, tls
 * and whatever else is made of them has none. Names are looked up by no other way than `dns`. The pipes to the
 * service are open by now. Throws where Node is not as this needs it: then no tool runs.
 */
export function closeNetwork(service: Socket): void {
  // What a tool writes goes through pipes, which are opened when they are first used.
  void process.stdout;
  void process.stderr;
  refuse(handleOf(service), ['connect', 'bind', 'listen']);
  refuse(tcpHandle(), ['connect', 'connect6', 'bind', 'bind6', 'listen', 'open']);
  refuse(udpHandle(), ['connect', 'connect6', 'bind', 'bind6', 'send', 'send6', 'open', 'recvStart']);
  closeNames();
}

type Handle = Readonly<Record<string, unknown>>;

/** Puts a refusal in place of these methods of all handles of the kind. */
function refuse(handle: Handle, names: readonly string[]): void {
  const kind = Object.getPrototypeOf(handle) as object;
  for (const name of names) {
    if (typeof handle[name] !== 'function') throw new Error(`A handle of this Node has no ${name}.`);
    Object.defineProperty(kind, name, { value: () => refusal, writable: false, configurable: false });
  }
}

function handleOf(socket: Socket): Handle {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle | null };
  if (handle == null) throw new Error('A socket of this Node has no handle.');
  return handle;
}

/** One whose host is never found, so that nothing is connected. */
function tcpHandle(): Handle {
  const socket = new Socket();
  socket.connect({ host: 'nowhere.invalid', port: 9, lookup: () => undefined });
  const handle = handleOf(socket);
  socket.destroy();
  return handle;
}

function udpHandle(): Handle {
  const socket = dgram.createSocket('udp4');
  const members = socket as unknown as Readonly<Record<symbol, { readonly handle?: Handle } | undefined>>;
  const handle = Object.getOwnPropertySymbols(socket)
    .map((name) => members[name]?.handle)
    .find((found) => found != null);
  socket.close();
  if (handle === undefined) throw new Error('A datagram socket of this Node has no handle.');
  return handle;
}

function closeNames(): void {
  const resolver = new dns.Resolver() as unknown as { readonly _handle: Handle };
  const kind = Object.getPrototypeOf(resolver._handle) as object;
  const queries = Object.getOwnPropertyNames(kind).filter(
    (name) => name.startsWith('query') || name === 'getHostByAddr',
  );
  if (queries.length === 0) throw new Error('A resolver of this Node has no queries.');
  refuse(resolver._handle, queries);
  const denied = (name: string): Error =>
    Object.assign(new Error(`${name} EACCES: a tool’s process looks up no names.`), { code: 'EACCES' });
  for (const name of ['lookup', 'lookupService'] as const) {
    const callback = (...given: unknown[]): void => {
      const done = given.at(-1);
      if (typeof done !== 'function') throw denied(name);
      process.nextTick(done as (error: Error) => void, denied(name));
    };
    Object.defineProperty(dns, name, { value: callback, writable: false, configurable: false });
    const rejecting = () => Promise.reject(denied(name));
    Object.defineProperty(dns.promises, name, { value: rejecting, writable: false, configurable: false });
  }
  syncBuiltinESMExports();
}
