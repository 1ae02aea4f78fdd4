import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../../infra/ports.ts';
import { watchKafka } from './kafka-watch.ts';
import { ownerOf } from './owner-of.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** A request of Kafka's protocol: length, API key, version, correlation id, and a body of zeros. */
function request(call: number, correlation: number, bytes = 10): Buffer {
  const frame = Buffer.alloc(4 + 8 + bytes);
  frame.writeInt32BE(8 + bytes, 0);
  frame.writeInt16BE(call, 4);
  frame.writeInt32BE(correlation, 8);
  return frame;
}

function response(correlation: number, bytes = 10): Buffer {
  const frame = Buffer.alloc(4 + 4 + bytes);
  frame.writeInt32BE(4 + bytes, 0);
  frame.writeInt32BE(correlation, 4);
  return frame;
}

describe('who watches Kafka’s protocol', () => {
  it.each([1, 3, 7, 1_000])('sees each request and response as it begins, in pieces of %i bytes', (size) => {
    const seen: string[] = [];
    const { toServer, toClient } = watchKafka((what) => seen.push(what) < 0)(1);
    const inPieces = (whole: Buffer, take: (piece: Buffer) => boolean): void => {
      for (let from = 0; from < whole.length; from += size) expect(take(whole.subarray(from, from + size))).toBe(true);
    };
    inPieces(Buffer.concat([request(26, 1), request(3, 2, 500), request(0, 3, 70)]), toServer);
    inPieces(Buffer.concat([response(1, 0), response(2, 300), response(3)]), toClient);
    expect(seen).toEqual(['EndTxn request', 'Produce request', 'EndTxn response', 'Produce response']);
  });

  it('lets nothing pass that it has to stop', () => {
    const { toServer } = watchKafka((what) => what === 'EndTxn request')(1);
    expect(toServer(request(0, 1))).toBe(true);
    expect(toServer(request(26, 2))).toBe(false);
  });
});

describe('a line', () => {
  let server: Server;
  let line: TcpProxy;
  let there: Socket[];
  beforeEach(async () => {
    there = [];
    server = createServer((socket) => {
      there.push(socket);
      socket.on('error', () => undefined).on('data', (piece: Buffer) => socket.write(piece));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const watch = () => ({ toServer: (piece: Buffer) => !piece.includes('stop'), toClient: () => true });
    line = await TcpProxy.open(await freePort(), (server.address() as AddressInfo).port, watch);
  });
  afterEach(async () => {
    await line.close();
    server.close();
  });

  async function client(): Promise<Socket> {
    const socket = connect(line.port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  it('leads there and back, but for what is stopped, and ends when it is cut', async () => {
    const socket = await client();
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).toBe('hello');
    socket.write('stop');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    line.cut();
    await closed;
    expect(there).toHaveLength(1);
  });

  it('holds what is sent until it goes on', async () => {
    const socket = await client();
    line.hold();
    let heard = '';
    socket.on('data', (piece: Buffer) => (heard += piece.toString()));
    socket.write('held');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard).toBe('');
    line.resume();
    while (heard !== 'held') await once(socket, 'data');
    socket.destroy();
  });

  it('takes no connection while it refuses, and again afterwards', async () => {
    line.refuse();
    const refused = connect(line.port, '127.0.0.1').on('error', () => undefined);
    await new Promise((resolve) => refused.once('close', resolve));
    line.resume();
    const socket = await client();
    socket.write('again');
    expect(String((await once(socket, 'data'))[0])).toBe('again');
    socket.destroy();
  });

  (process.platform === 'linux' ? it : it.skip)('is known by who holds its end (/proc, so Linux only)', async () => {
    const socket = await client();
    expect(ownerOf(socket.localPort ?? 0, [1, process.pid])).toBe(process.pid);
    expect(ownerOf(socket.localPort ?? 0, [])).toBeUndefined();
    socket.destroy();
  });

  (process.platform === 'linux' ? it : it.skip)(
    'is so too where another process has one to another server that begins at the same port',
    async () => {
      const localPort = await freePort();
      const begin = `require('node:net').connect({ port: ${(server.address() as AddressInfo).port}, host: '127.0.0.1', localPort: ${localPort} })`;
      const other = spawn(process.execPath, ['-e', begin], { stdio: 'ignore', env: {} });
      while (there.length === 0) await once(server, 'connection');
      const socket = connect({ port: line.port, host: '127.0.0.1', localPort });
      await once(socket, 'connect');
      for (const processId of [process.pid, other.pid ?? 0]) expect(ownerOf(localPort, [1, processId])).toBe(processId);
      socket.destroy();
      other.kill();
      await once(other, 'close');
    },
  );
});
