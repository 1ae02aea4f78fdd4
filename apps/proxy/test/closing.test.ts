import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Listener } from '../src/listener.js';

describe('the end of a proxy', () => {
  let listener: Listener;
  let port: number;
  let asked: Promise<unknown>;
  beforeEach(async () => {
    // It answers no request.
    asked = new Promise((resolve) => (listener = new Listener(resolve)));
    listener.server.listen(0, '127.0.0.1');
    await once(listener.server, 'listening');
    ({ port } = listener.server.address() as AddressInfo);
  });
  afterEach(() => listener.server.closeAllConnections());

  it('cuts requests in HTTP/1.1 that are under way when its time is up', async () => {
    const request = get({ host: '127.0.0.1', port });
    const cut = once(request, 'error');
    await asked;
    await listener.close(20);
    expect(await cut).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  it('cuts those in HTTP/2', async () => {
    const session = connect(`http://127.0.0.1:${port}`);
    session.on('error', () => undefined);
    const request = session.request({ ':path': '/' });
    request.on('error', () => undefined);
    const cut = once(session, 'close');
    await asked;
    await listener.close(20);
    await cut;
    expect(request.closed).toBe(true);
  });
});
