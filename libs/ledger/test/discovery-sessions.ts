import { describe, expect, it } from '@jest/globals';
import { DiscoverySessions, largestSession, mostExpanded, sessionKey, sessionMs } from '@sluice/discovery';
import type { DocumentedLedger } from '@sluice/ledger';
import { sha256 } from '@sluice/contracts';
import { eventually } from '../../../test/harness/eventually.js';

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
        const sessions = new DiscoverySessions(ledger.documents, time, sha256);
        await work({ sessions, elsewhere: new DiscoverySessions(other.documents, time, sha256), clock, pair });
      } finally {
        await pair.close();
      }
    };

    it('are shared by instances: tools that were left out, and names that were found, each once (DS-96, DS-97, DS-55)', () =>
      withSessions(async ({ sessions, elsewhere }) => {
        await sessions.note('s', { tools: [tool('a'), tool('b')], expanded: ['a'] });
        await elsewhere.note('s', { tools: [tool('b', '{"name":"b","new":1}')], expanded: ['b', 'a'] });
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
        await sessions.note('s', { tools: [tool('a'), tool('b')], expanded: ['a'] });
        const added = { tools: [tool('b', '{"name":"b","new":1}'), tool('c')] };
        const writing = [
          ...Array.from({ length: 20 }, (_, at) => sessions.noteSoon(`t${String(at)}`, { tools: [tool('x')] })),
          ...[added, { tools: [tool('d')] }].map((more) => sessions.noteSoon('s', more)),
        ];
        const all = {
          deferred: [tool('a'), tool('b', '{"name":"b","new":1}'), tool('c'), tool('d')],
          expanded: ['a'],
        };
        expect(await sessions.find('s')).toEqual(all);
        // A search does not wait, and takes what waits with it.
        await sessions.note('s', { expanded: ['d'] });
        expect(await elsewhere.find('s')).toEqual({ ...all, expanded: ['a', 'd'] });
        // On a busy machine a write is not waited for to its end, and goes on.
        for (const written of await Promise.allSettled(writing))
          if (written.status === 'rejected') expect(String(written.reason)).toContain('no answer within 250 ms');
        const last = await eventually(
          () => elsewhere.find('t19'),
          ({ deferred }) => deferred.length > 0,
        );
        expect(last.deferred).toEqual([tool('x')]);
        expect(await elsewhere.find('s')).toEqual({ ...all, expanded: ['a', 'd'] });
      }));

    it('begin again where the former one expired and was not swept (DS-100)', () =>
      withSessions(async ({ sessions, clock }) => {
        await sessions.note('s', { expanded: ['a'] });
        clock.at += sessionMs;
        await sessions.note('s', { expanded: ['b'] });
        expect(await sessions.find('s')).toEqual({ deferred: [], expanded: ['b'] });
      }));

    it('are bounded: the oldest tools and names go first (DS-129)', () =>
      withSessions(async ({ sessions }) => {
        const large = 'x'.repeat(largestSession / 2);
        await sessions.note('s', { tools: [tool('a', large), tool('b', large), tool('c', '{}')] });
        const names = Array.from({ length: mostExpanded + 3 }, (_, index) => `n${index}`);
        await sessions.note('s', { expanded: names });
        const session = await sessions.find('s');
        expect(session.deferred.map(({ name }) => name)).toEqual(['b', 'c']);
        expect(session.expanded).toEqual(names.slice(3));
      }));

    it('keep definitions to the byte, whatever stands in them (DS-105)', () =>
      withSessions(async ({ sessions }) => {
        const raw = '{ "name": "a",\t"description": "\\ud83d \\u0000 ü", "n": 1.0 }';
        await sessions.note('s', { tools: [tool('a', raw)], expanded: ['half \ud83d'] });
        expect((await sessions.find('s')).deferred).toEqual([tool('a', raw)]);
      }));

    it('store a list once, and name it: of what was shown each time no search has to tell', () =>
      withSessions(async ({ sessions, elsewhere, pair, clock }) => {
        const tools = ['a', 'b', 'c', 'd'].map((name) => tool(name));
        const [key, other] = ['discovery/t/user/1', 'discovery/t/user/2'];
        await sessions.note(key, { tools, shown: [0, 1], expanded: [] });
        await elsewhere.note(key, { tools: [...tools], shown: [1, 2] });
        await elsewhere.noteSoon(other, { tools: [...tools], shown: [3] });
        const names = async (of: DiscoverySessions, session: string) =>
          (await of.find(session)).deferred.map(({ name }) => name);
        expect(await names(sessions, key)).toEqual(['a', 'c', 'd']);
        expect(await names(sessions, other)).toEqual(['a', 'b', 'c']);
        expect((await pair.ledger.documents.tally('discovery/t/lists/', clock.at, 9)).count).toBe(1);
        expect((await pair.ledger.documents.find(key))?.text).not.toContain('openai-chat');
      }));

    it('have their lists for as long as they live, and no longer', () =>
      withSessions(async ({ sessions, elsewhere, pair, clock }) => {
        const tools = [tool('a')];
        const key = 'discovery/t/user/1';
        for (let use = 0; use < 6; use++) {
          await (use % 2 === 0 ? sessions : elsewhere).note(key, { tools });
          clock.at += sessionMs - 1;
          await pair.ledger.documents.sweep(clock.at);
          expect((await elsewhere.find(key)).deferred).toEqual(tools);
        }
        clock.at += 2 * sessionMs;
        await pair.ledger.documents.sweep(clock.at);
        expect((await pair.ledger.documents.tally('discovery/t/', clock.at - 3 * sessionMs, 9)).count).toBe(0);
      }));

    it('of a former version, which hold their tools themselves, are read and go on', () =>
      withSessions(async ({ sessions, clock, pair }) => {
        const text = JSON.stringify({ deferred: [['a', 'openai-chat', '{"name":"a"}']], expanded: ['a'] });
        await pair.ledger.documents.put('s', 1, text, clock.at + sessionMs);
        expect(await sessions.find('s')).toEqual({ deferred: [tool('a')], expanded: ['a'] });
        await sessions.note('s', { tools: [tool('b'), tool('c')], shown: [1] });
        expect(await sessions.find('s')).toEqual({ deferred: [tool('a'), tool('b')], expanded: ['a'] });
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
