import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from './waiting.js';
import { watchingHub } from './watching-hub.js';

const closing: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

function open(...given: Parameters<typeof watchingHub>) {
  const opened = watchingHub(...given);
  closing.push(() => opened.hub.close());
  return opened;
}

describe.each([
  ['before 2026', 'watch', []],
  ['2026-07-28', 'recent', ['--modern']],
] as const)('resources of a server of the revision %s', (_, scheme, args) => {
  const [a, b] = [`${scheme}://a`, `${scheme}://b`];

  it('are subscribed to by a call, and heard of while they are followed', async () => {
    const { hub, updated, call, subscribe } = open('watched.mjs', ...args);
    expect(await subscribe(a)).toEqual({ subscribed: a });
    await call('touch', { uri: b });
    await call('touch', { uri: a });
    await until(() => updated.length === 1);
    hub.follow('one', new Set([a, b]), false);
    await until(async () => {
      await call('touch', { uri: b });
      return updated.includes(b);
    });
    expect(updated[0]).toBe(a);
  });
});

describe('a subscription', () => {
  it('that the server refuses is an error with its reason, and one that is followed is logged', async () => {
    const { hub, logged, subscribe } = open('watched.mjs');
    await expect(subscribe('watch://refused')).rejects.toThrow('this one never changes');
    hub.follow('one', new Set(['watch://refused']), false);
    await until(() => logged.some((line) => line.includes('did not accept a subscription to "watch://refused"')));
  });

  it('is refused at a server that has none, which offers none', async () => {
    const { hub, subscribe } = open('talking.mjs');
    await expect(subscribe('talk://text')).rejects.toThrow('lets no client subscribe');
    expect((await hub.discover())[0]).not.toHaveProperty('subscribes');
    expect((await open('watched.mjs').hub.discover())[0]).toHaveProperty('subscribes', true);
  });

  it('is heard of where the server names an address below it', async () => {
    const { updated, call, subscribe } = open('watched.mjs');
    await subscribe('watch://a');
    await call('touch', { uri: 'watch://a/part' });
    await until(() => updated.length === 1);
    expect(updated).toEqual(['watch://a']);
  });
});
