import { describe, expect, it } from '@jest/globals';
import { prefers } from '../src/prefers.js';

type Given = Parameters<typeof prefers>[0];

/** A request with these headers; `accepted` is what Express makes of `accept`. */
function given(headers: Readonly<Record<string, string>>, accepted: string | false = 'text/event-stream'): Given {
  return { get: (name: string) => headers[name], accepts: () => accepted } as unknown as Given;
}

describe('how a caller wants to hear of its run', () => {
  it.each([
    [undefined, 0],
    ['wait=0', 0],
    ['wait=7', 7],
    ['respond-async, wait = "7"', 7],
    ['WAIT=7; x', 7],
    ['wait=55', 55],
    ['wait=56', 55],
    ['wait=999999999', 55],
    ['wait=-1', 0],
    ['wait=1e9', 0],
    ['await=7', 0],
  ])('Prefer: %s waits %i seconds, and never longer than 55', (prefer, seconds) => {
    const preference = prefers(given(prefer === undefined ? {} : { prefer }));
    expect(preference).toEqual({ kind: 'wait', milliseconds: seconds * 1_000 });
  });

  it('is a stream where its type is named, and not refused', () => {
    const stream = { accept: 'application/json, text/event-stream', prefer: 'wait=7' };
    expect(prefers(given(stream))).toEqual({ kind: 'stream' });
    expect(prefers(given(stream, false))).toEqual({ kind: 'wait', milliseconds: 7_000 });
    expect(prefers(given({ accept: '*/*', prefer: 'wait=7' }))).toEqual({ kind: 'wait', milliseconds: 7_000 });
  });
});
