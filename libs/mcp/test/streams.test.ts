import { describe, expect, it } from '@jest/globals';
import {
  answerEventId,
  emptyOutbox,
  mostSubscriptions,
  parseEventId,
  posted,
  standingEventId,
  subscribed,
  unheard,
  unsubscribed,
} from '@sluice/mcp';
import type { Outbox } from '@sluice/mcp';

describe('the id of an event', () => {
  it('says in which stream it stood, and where', () => {
    const stream = '0'.repeat(32);
    for (const progress of [0, 3, 0.5, 1234.000001]) {
      const heard = { position: 7, progress, questions: 2 };
      expect(parseEventId(answerEventId(stream, heard))).toEqual({ kind: 'answer', stream, heard });
    }
    // What no id has room for.
    for (const progress of [-1, 1e20, NaN, 1e-9])
      expect(parseEventId(answerEventId(stream, { position: 7, progress, questions: 2 }))).toMatchObject({
        heard: { progress: 0 },
      });
    const standing = { kind: 'standing', position: 3, configuration: 'ab12' };
    expect(parseEventId(standingEventId(3, 'ab12', 'f0'))).toEqual(standing);
    expect(standingEventId(3, 'ab12', 'f0')).not.toBe(standingEventId(3, 'ab12', 'f1'));
  });

  it.each([
    '',
    '7',
    'a-xyz-1',
    `a-${'0'.repeat(32)}-1`,
    `a-${'0'.repeat(32)}-1-1--1`,
    's-1-ab',
    `s-${'9'.repeat(30)}-ab-f0`,
    '\u0000',
  ])('that no stream here wrote is none: %j', (id) => {
    expect(parseEventId(id)).toBeNull();
  });
});

describe('the outbox of a session', () => {
  const message = (n: number, text = ''): { n: number; text: string } => ({ n, text });

  it('gives a client what it has not heard, in order', () => {
    const outbox = [1, 2, 3].reduce((box, n) => posted(box, message(n), n), emptyOutbox);
    expect(unheard(outbox, 1).messages.map((one) => one.message)).toEqual([message(2), message(3)]);
    expect(unheard(outbox, 1).isWhole).toBe(true);
    expect(unheard(outbox, 3)).toEqual({ messages: [], isWhole: true });
    // An id of the client’s making.
    expect(unheard(outbox, 99)).toEqual({ messages: [], isWhole: true });
  });

  it.each([
    ['number', (n: number) => posted(emptyOutbox, message(n), 0), 40, 32],
    ['bytes', (n: number) => posted(emptyOutbox, message(n, 'x'.repeat(20_000)), 0), 5, 3],
  ])('is bounded in %s, and says that some are gone', (_, one, count, kept) => {
    let outbox = emptyOutbox;
    for (let n = 1; n <= count; n++) outbox = posted(outbox, one(n).messages[0]?.message ?? {}, 0);
    const { messages, isWhole } = unheard(outbox, 0);
    expect(messages).toHaveLength(kept);
    expect(messages.at(-1)?.at).toBe(count);
    expect(isWhole).toBe(false);
    expect(unheard(outbox, count - kept).isWhole).toBe(true);
  });

  it('has as many subscriptions as a session may have, each once', () => {
    const of = (n: number) => ({ server: 's', uri: `r://${n}` });
    let outbox: Outbox = emptyOutbox;
    for (let n = 0; n < mostSubscriptions; n++) outbox = subscribed(outbox, of(n), n) ?? emptyOutbox;
    expect(outbox.subscriptions).toHaveLength(50);
    expect(subscribed(outbox, of(7), 60)?.subscriptions).toHaveLength(50);
    expect(subscribed(outbox, of(50), 60)).toBeNull();
    const other = subscribed(unsubscribed(outbox, 'r://7'), of(50), 60);
    expect(other?.subscriptions?.at(-1)).toEqual({ ...of(50), since: 60 });
    // Messages that come are another matter.
    expect(posted(outbox, message(1), 0).subscriptions).toEqual(outbox.subscriptions);
  });

  it('forgets after an hour', () => {
    const outbox = posted(posted(emptyOutbox, message(1), 0), message(2), 3_600_001);
    expect(outbox.messages.map(({ at }) => at)).toEqual([2]);
  });
});
