import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '@sluice/core';
import { createMcpHub } from '@sluice/hub';
import { until } from './waiting.js';

const closing: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

function open(script: string, ...args: string[]) {
  const [updated, logged]: [string[], string[]] = [[], []];
  const command = process.execPath;
  const given = { command, args: [join(import.meta.dirname, 'mcp-servers', script), ...args] };
  const hub = createMcpHub([{ ...given, id: 'one', env: [], url: null, startMs: 10_000 }], {
    environment: () => ({ PATH: process.env['PATH'] ?? '' }),
    onChange: () => undefined,
    onResourceUpdated: (_, uri) => updated.push(uri),
    log: (_, message) => logged.push(message),
  });
  closing.push(() => hub.close());
  const options = () => ({ signal: new AbortController().signal, idempotencyKey: 'k', timeoutMs: 10_000, pin: null });
  const call = (tool: string, given: JsonObject = {}): Promise<JsonValue> => hub.call('one', tool, given, options());
  const subscribe = (uri: string): Promise<JsonValue> =>
    hub.call('one', '*', { uri, subscribe: true }, { ...options(), kind: 'resource' });
  return { hub, updated, logged, call, subscribe };
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

  it('ends at the server when it is followed no more', async () => {
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
});
