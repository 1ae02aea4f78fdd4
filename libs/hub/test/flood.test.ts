import { InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from '@jest/globals';
import { WatchedTransport } from '../src/flood.js';

/** A server at the other end of a watched client, and how often it was found to be too much. */
async function watched() {
  const [inner, server] = InMemoryTransport.createLinkedPair();
  let floods = 0;
  const client = new WatchedTransport(inner, {
    onFlood: () => floods++,
    onSend: () => undefined,
    onAnswer: () => undefined,
  });
  await Promise.all([client.start(), server.start()]);
  return {
    ask: (id: number) => server.send({ jsonrpc: '2.0', id, method: 'roots/list' }),
    withdraw: (requestId: number) =>
      server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
    answer: (id: number) => client.send({ jsonrpc: '2.0', id, result: {} }),
    floods: () => floods,
  };
}

describe('questions of a server', () => {
  it('that pile up are too much, which is said once, also where they share an id', async () => {
    for (const idOf of [(n: number) => n, () => 1]) {
      const { ask, floods } = await watched();
      for (let n = 0; n < 200; n++) await ask(idOf(n));
      expect(floods()).toBe(0);
      for (let n = 200; n < 300; n++) await ask(idOf(n));
      expect(floods()).toBe(1);
    }
  });

  it('that were answered, or withdrawn so that they get no answer, count no more', async () => {
    const { ask, answer, withdraw, floods } = await watched();
    for (let n = 0; n < 300; n++) {
      await ask(n);
      await (n % 2 === 0 ? answer(n) : withdraw(n));
      // An answer that crosses its withdrawal is no other question’s.
      if (n % 2 === 1) await answer(n);
    }
    expect(floods()).toBe(0);
    for (let n = 0; n < 200; n++) await ask(n);
    expect(floods()).toBe(0);
    await ask(200);
    expect(floods()).toBe(1);
  });
});
