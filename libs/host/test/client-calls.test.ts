import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredDocument } from '@sluice/core';
import { createSignatures, newKeySet } from '@sluice/identity';
import { ClientCalls, isClientCall, isClientCallId } from '@sluice/run';
import { sealedDocuments } from '../src/sealed-documents.js';
import { databaseInMemory } from './database-in-memory.js';

const signatures = createSignatures(newKeySet(1));
const asked = { question: 'q-1', requestId: 'r', tenant: 'acme', actor: 'user:ann', subject: null, said: 's' };
const call = (index: number, args = '{}') => ({ index, name: 'get_weather', arguments: args });

describe('calls that wait for their client', () => {
  let now = 1_000;
  let stored: Map<string, StoredDocument>;
  let calls: ClientCalls;
  beforeEach(() => {
    now = 1_000;
    const database = databaseInMemory();
    stored = database.stored;
    const keys = randomBytes(32).toString('base64');
    const sealed = sealedDocuments(database.documents, { keys, isPrivate: isClientCall, onClosed: () => undefined });
    calls = new ClientCalls({ documents: sealed, clock: { now: () => now } });
  });
  const waiting = async (more: object = {}, ...own: readonly ReturnType<typeof call>[]) => {
    const wait = { ...asked, until: 5_000, ...more };
    await calls.wait(wait, own.length === 0 ? [call(0), call(1)] : own, signatures);
    const found = await calls.find(wait, wait.question);
    if (found === null) throw new Error('Nothing waits.');
    return found;
  };

  it('have ids of their caller, run and place, by which they are found', async () => {
    const wait = await waiting();
    const [one, two] = wait.calls.map(({ id }) => id);
    if (one === undefined || two === undefined) throw new Error('There are two calls.');
    expect([isClientCallId(one), one === two, await calls.byId(one)]).toEqual([true, false, wait]);
    // The halves of two ids, a changed one, and one of another form.
    expect(await calls.byId(`${one.slice(0, 27)}${'A'.repeat(22)}`)).toBeNull();
    expect(await calls.byId(`call_${'A'.repeat(22)}${one.slice(27)}`)).toBeNull();
    expect(await calls.byId('call_1')).toBeNull();
    const others = [{ actor: 'user:bob' }, { tenant: 'other' }, { requestId: 'other' }, { question: 'q-2' }];
    for (const more of others) {
      stored.clear();
      const other = await waiting(more);
      expect(other.calls.map(({ id }) => id)).not.toContain(one);
    }
  });

  it('keep the ids that an earlier attempt at the turn gave them', async () => {
    const first = await waiting({}, call(0, '{"a":1}'));
    expect(await waiting({ until: 9_000 }, call(0, '{"a":1}'), call(1))).toEqual(first);
  });

  it('take the first results, the same again, and no others', async () => {
    const wait = await waiting();
    const results = wait.calls.map(({ id }) => ({ id, text: 'Snow.', isError: false }));
    const [one, two] = results;
    if (one === undefined || two === undefined) throw new Error('There are two calls.');
    expect(await Promise.all([calls.receive(wait, results), calls.receive(wait, [two, one])])).toEqual([
      ...['first', 'again'],
    ]);
    now = 6_000;
    expect(await calls.receive(wait, results)).toBe('again');
    expect(await calls.receive(wait, [one, { ...two, text: 'Sun.' }])).toBe('others');
    expect(await calls.receive(wait, [one, { ...two, isError: true }])).toBe('others');
  });

  it('take no results once their time is over', async () => {
    const wait = await waiting();
    now = 5_000;
    expect(await calls.receive(wait, [])).toBe('late');
  });

  it('are sealed in the database, with their arguments', async () => {
    await waiting({}, call(0, '{"city":"Bern"}'));
    await calls.keepArguments('effect/1', '{"city":"Bern"}');
    await calls.keepArguments('effect/1', '{"city":"Rome"}');
    expect(await calls.argumentsOf('effect/1')).toBe('{"city":"Bern"}');
    expect([...stored.values()].some(({ text }) => text.includes('Bern'))).toBe(false);
  });
});
