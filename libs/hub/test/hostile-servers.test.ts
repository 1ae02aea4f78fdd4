import { afterEach, describe, expect, it } from '@jest/globals';
import { ToolOutcomeLostError, ToolUnavailableError } from '@sluice/core';
import type { McpHub } from '@sluice/hub';
import { callHostile, closeHubs, openHostile } from './hostile-hub.js';
import { until, whatIsThrown } from './waiting.js';

afterEach(closeHubs);

/**
 * How long another server's call may take beside a hostile one, milliseconds: much of it is other work of a busy
 * machine.
 */
const longestWaitMs = 4_000;

/** How long the well server takes to answer, at worst, while something else goes on. */
async function slowestNeighbour(hub: McpHub, work: Promise<unknown>): Promise<number> {
  const ask = () =>
    hub.call(
      'well',
      'words',
      {},
      { signal: new AbortController().signal, timeoutMs: 20_000, idempotencyKey: 'k', pin: null },
    );
  await ask();
  let slowest = 0;
  let over = false;
  void work.catch(() => undefined).finally(() => (over = true));
  do {
    const before = performance.now();
    expect(await ask()).toBe('plain words');
    slowest = Math.max(slowest, performance.now() - before);
    await new Promise((resolve) => setTimeout(resolve, 20));
  } while (!over);
  return slowest;
}

describe('a hostile server that is called over stdio: the others go on, and it costs a bounded time and memory', () => {
  it.each([
    ['never answers', 'never-answers', ToolOutcomeLostError],
    ['answers after the limit', 'answers-late', ToolOutcomeLostError, 200 as number],
    ['answers with a gigabyte', 'gigabyte', ToolOutcomeLostError],
    ['writes garbage where messages are expected', 'garbage', ToolOutcomeLostError],
    ['writes bytes that are no text', 'binary-garbage', ToolOutcomeLostError],
    ['ends in the middle of a call', 'dies', ToolOutcomeLostError],
    ['ends in the middle of a message', 'dies-in-the-middle', ToolOutcomeLostError],
    ['answers with what is no result', 'wrong-result', ToolOutcomeLostError],
    ['answers with nothing', 'no-result', ToolOutcomeLostError],
    ['floods us with notifications', 'floods-notifications', ToolOutcomeLostError],
    ['floods us with requests and reads no answer', 'floods-requests', ToolOutcomeLostError],
  ])('%s', async (_, fault, kind, timeoutMs = 2_000) => {
    const { hub } = openHostile(fault);
    // Both are started, so that the limit is the call's alone.
    await hub.discover();
    const before = process.memoryUsage().rss;
    const started = performance.now();
    const running = callHostile(hub, 'work', { timeoutMs });
    expect(await slowestNeighbour(hub, running)).toBeLessThan(longestWaitMs);
    expect(await whatIsThrown(running)).toBeInstanceOf(kind);
    expect(performance.now() - started).toBeLessThan(60_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1_048_576);
  });

  it.each([
    ['answers questions nobody asked', 'answers-others'],
    ['says a hundred times that its tools changed', 'floods-changes'],
    ['fills its error stream', 'floods-errors'],
  ])('%s, and is answered all the same', async (_, fault) => {
    const { hub, changed } = openHostile(fault);
    const running = callHostile(hub, 'work', { timeoutMs: 20_000 });
    expect(await slowestNeighbour(hub, running)).toBeLessThan(longestWaitMs);
    expect(await running).toBe('worked');
    // Each word that tools changed has everything compiled again: nine hundred are passed on as one, and one more
    // later.
    expect(changed.length).toBeLessThanOrEqual(1);
  });

  it('is cut off when it floods us, with a line that says so, and tried again with growing pauses', async () => {
    const { hub, logged } = openHostile('floods-notifications');
    await whatIsThrown(callHostile(hub));
    expect(logged).toContainEqual(
      expect.stringMatching(/^hostile: sends more than a thousand unsolicited messages a second/),
    );
    await until(() => hub.status()[0]?.state !== 'waiting');
  });

  it('has an answer of its own kind refused, not passed on', async () => {
    const { hub } = openHostile('deep-result');
    const value = await callHostile(hub);
    expect(() => JSON.stringify(value)).toThrow(RangeError); // as it came; the runner refuses it by its depth
    const proto = await callHostile(openHostile('proto-result').hub);
    expect(JSON.stringify(proto)).toBe('{"a":1}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('gets little for its own requests: no sampling, no tools, an empty list of roots, forms declined', async () => {
    const { hub } = openHostile('asks');
    expect(await callHostile(hub, 'work', { timeoutMs: 8_000 })).toEqual([...[-32601, -32601, 'answered', 'answered']]);
  });

  it('never begins: the call is unavailable within the start time', async () => {
    const { hub } = openHostile('never-begins', { startMs: 500 });
    expect(await whatIsThrown(callHostile(hub))).toBeInstanceOf(ToolUnavailableError);
  });

  it('floods us before it has begun: cut off', async () => {
    const { hub, logged } = openHostile('floods-at-once');
    const running = callHostile(hub);
    expect(await slowestNeighbour(hub, running)).toBeLessThan(longestWaitMs);
    expect(await whatIsThrown(running)).toBeInstanceOf(ToolUnavailableError);
    expect(logged.join()).toMatch(/was cut off/);
  });
});
