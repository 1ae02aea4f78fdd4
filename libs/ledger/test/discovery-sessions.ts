import { describe, expect, it } from '@jest/globals';
import { DiscoverySessions, largestSession, mostExpanded, sessionKey, sessionMs } from '@sluice/discovery';
import type { DocumentedLedger } from '@sluice/ledger';
import { sha256 } from '@sluice/contracts';

interface Pair {
  readonly ledger: DocumentedLedger;
  readonly other: DocumentedLedger;
  close(): Promise<void>;
}

const tool = (name: string, raw = `{"name":"${name}"}`) => ({ name, wire: 'openai-chat', raw });

/** What holds for sessions of tool discovery on any store. */
export function discoverySessionsContract(store: string, open: () => Promise<Pair>): void {
  describe(`sessions of tool discovery on ${store}`, () => {
    const withSessions = async (
      work: (given: {
        readonly sessions: DiscoverySessions;
        readonly elsewhere: DiscoverySessions;
        readonly clock: { at: number };
        readonly pair: Pair;
      }) => Promise<void>,
    ): Promise<void> => {
      const pair = await open();
      const clock = { at: 1_000_000 };
      const time = { now: () => clock.at };
      try {
        const { ledger, other } = pair;
        const sessions = new DiscoverySessions(ledger.documents, time);
        await work({ sessions, elsewhere: new DiscoverySessions(other.documents, time), clock, pair });
      } finally {
        await pair.close();
      }
    };

    it('are shared by instances: tools that were left out, and names that were found, each once (DS-96, DS-97, DS-55)', () =>
      withSessions(async ({ sessions, elsewhere }) => {
        await sessions.note('s', { deferred: [tool('a'), tool('b')], expanded: ['a'] });
        await elsewhere.note('s', { deferred: [tool('b', '{"name":"b","new":1}')], expanded: ['b', 'a'] });
        expect(await sessions.find('s')).toEqual({
          deferred: [tool('a'), tool('b', '{"name":"b","new":1}')],
          expanded: ['a', 'b'],
        });
      }));

    it('lose nothing where two instances write at once (DS-97)', () =>
      withSessions(async ({ sessions, elsewhere }) => {
        await Promise.all(
          ['a', 'b', 'c'].flatMap((name) => [
            sessions.note('s', { expanded: [name] }),
            elsewhere.note('s', { expanded: [`${name}2`] }),
          ]),
        );
        expect([...(await sessions.find('s')).expanded].sort()).toEqual(['a', 'a2', 'b', 'b2', 'c', 'c2']);
      }));

    it('live for an hour from their last use, and are never served later, swept or not (DS-100, DS-101, XS-22)', () =>
      withSessions(async ({ sessions, clock, pair }) => {
        await sessions.note('s', { expanded: ['a'] });
        clock.at += sessionMs - 1;
        await sessions.note('s', {});
        clock.at += sessionMs - 1;
        expect((await sessions.find('s')).expanded).toEqual(['a']);
        clock.at += 1;
        expect((await sessions.find('s')).expanded).toEqual([]);
        expect(await pair.ledger.documents.find('s')).toBeDefined();
        await pair.ledger.documents.sweep(clock.at);
        expect(await pair.ledger.documents.find('s')).toBeUndefined();
      }));

    it('find what is yet to be written at once, and write what waits together (DS-97)', () =>
      withSessions(async ({ sessions, elsewhere }) => {
        await sessions.note('s', { deferred: [tool('a'), tool('b')], expanded: ['a'] });
        const added = { deferred: [tool('b', '{"name":"b","new":1}'), tool('c')] };
        const writing = [
          ...Array.from({ length: 20 }, (_, at) => sessions.noteSoon(`t${String(at)}`, { deferred: [tool('x')] })),
          ...[added, { deferred: [tool('d')] }].map((more) => sessions.noteSoon('s', more)),
        ];
        const all = {
          deferred: [tool('a'), tool('b', '{"name":"b","new":1}'), tool('c'), tool('d')],
          expanded: ['a'],
        };
        expect(await sessions.find('s')).toEqual(all);
        // A search does not wait, and takes what waits with it.
        await sessions.note('s', { expanded: ['d'] });
        expect(await elsewhere.find('s')).toEqual({ ...all, expanded: ['a', 'd'] });
        await Promise.all(writing);
        expect(await elsewhere.find('s')).toEqual({ ...all, expanded: ['a', 'd'] });
        expect((await elsewhere.find('t19')).deferred).toEqual([tool('x')]);
      }));

    it('begin again where the former one expired and was not swept (DS-100)', () =>
      withSessions(async ({ sessions, clock }) => {
        await sessions.note('s', { expanded: ['a'] });
        clock.at += sessionMs;
        expect((await sessions.note('s', { expanded: ['b'] })).expanded).toEqual(['b']);
      }));

    it('are bounded: the oldest tools and names go first (DS-129)', () =>
      withSessions(async ({ sessions }) => {
        const large = 'x'.repeat(largestSession / 2);
        await sessions.note('s', { deferred: [tool('a', large), tool('b', large), tool('c', '{}')] });
        const names = Array.from({ length: mostExpanded + 3 }, (_, index) => `n${index}`);
        const session = await sessions.note('s', { expanded: names });
        expect(session.deferred.map(({ name }) => name)).toEqual(['b', 'c']);
        expect(session.expanded).toEqual(names.slice(3));
      }));

    it('keep definitions to the byte, whatever stands in them (DS-105)', () =>
      withSessions(async ({ sessions }) => {
        const raw = '{ "name": "a",\t"description": "\\ud83d \\u0000 ü", "n": 1.0 }';
        await sessions.note('s', { deferred: [tool('a', raw)], expanded: ['half \ud83d'] });
        expect((await sessions.find('s')).deferred).toEqual([tool('a', raw)]);
      }));

    it('have a key by tenant, user and first message (DS-98, DS-99, XS-21)', () => {
      const owner = { tenantId: 'acme', userId: 'user:ann' };
      const hi = { said: { text: 'Hi', images: [] }, id: null };
      const key = sessionKey(owner, hi, sha256);
      expect(key).toBe(`discovery/acme/user%3Aann/${sha256('{"images":[],"text":"Hi"}').slice(0, 16)}`);
      expect(sessionKey(owner, { ...hi, said: { images: [], text: 'Hi' } }, sha256)).toBe(key);
      const others = [
        sessionKey({ ...owner, tenantId: 'other' }, hi, sha256),
        sessionKey({ ...owner, userId: 'user:bob' }, hi, sha256),
        sessionKey(owner, { ...hi, said: { text: 'Hi!', images: [] } }, sha256),
        sessionKey(owner, { ...hi, id: 'c-1' }, sha256),
        sessionKey(owner, { ...hi, id: 'c-2' }, sha256),
        sessionKey({ tenantId: 'acme/user%3Aann', userId: '' }, hi, sha256),
      ];
      expect(new Set([key, ...others]).size).toBe(7);
    });
  });
}
