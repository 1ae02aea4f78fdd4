import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../libs/hub/test/waiting.js';
import { watchingHub } from '../../../libs/hub/test/watching-hub.js';

const closing: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

function open(...given: Parameters<typeof watchingHub>) {
  const opened = watchingHub(...given);
  closing.push(() => opened.hub.close());
  return opened;
}

describe.each([
  ['before 2026', 'watch://a', []],
  ['2026-07-28', 'recent://a', ['--modern']],
] as const)('resources of a server of the revision %s', (_, a, args) => {
  it('are reported once a second at most, however often the server says it', async () => {
    const { updated, call, subscribe } = open('watched.mjs', ...args);
    await subscribe(a);
    await call('touch', { uri: a, times: 400 });
    await until(() => updated.length === 2);
    await sleep(300);
    expect(updated).toEqual([a, a]);
  });

  it('are subscribed to again when the server is back, and count as changed', async () => {
    const { hub, updated, call, subscribe } = open('watched.mjs', ...args);
    await subscribe(a);
    hub.follow('one', new Set([a]), false);
    await call('die').catch(() => undefined);
    await until(() => updated.length === 1);
    await sleep(1_000);
    await call('touch', { uri: a });
    await until(() => updated.length === 2);
    expect(updated).toEqual([a, a]);
  });

  it('count as changed where they were wanted before the hub was there', async () => {
    const { hub, updated } = open('watched.mjs', ...args);
    hub.follow('one', new Set([a]), true);
    await until(() => updated.length === 1);
    expect(updated).toEqual([a]);
  });
});

it('a subscription ends at the server when it is followed no more', async () => {
  const { hub, call } = open('watched.mjs');
  hub.follow('one', new Set(['watch://a', 'watch://b']), false);
  const subscribed = async () => (await call('subscriptions')) as string[];
  await until(async () => (await subscribed()).length === 2);
  hub.follow('one', new Set(['watch://b']), false);
  await until(async () => (await subscribed()).length === 1);
  expect(await subscribed()).toEqual(['watch://b']);
  hub.follow('one', new Set(), false);
  await until(async () => (await subscribed()).length === 0);
});
