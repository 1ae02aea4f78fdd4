import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { CountedDocuments, StoredDocument } from '@sluice/core';
import { CallerForms, isCallerForm } from '@sluice/run';
import { sealedDocuments } from '../src/sealed-documents.js';
import { databaseInMemory } from './database-in-memory.js';

const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('hex')];
const [run, other] = [
  { requestId: 'r', tenant: 'acme' },
  { requestId: 'other', tenant: 'acme' },
];
const form = { id: '1', server: 'seats', message: 'Which seat?', requestedSchema: { type: 'object' }, until: 10_000 };
const clock = { now: () => 1_000 };

describe('forms of calls in the database', () => {
  const closed: string[] = [];
  const formsWith = (documents: CountedDocuments, keys: string | null): CallerForms => {
    const sealed = sealedDocuments(documents, { keys, isPrivate: isCallerForm, onClosed: (key) => closed.push(key) });
    return new CallerForms({ documents: sealed, clock });
  };
  const answer = { action: 'accept', content: { seat: 'a window' } } as const;

  it('stand sealed there with their answers where there are keys, of which each opens what it sealed', async () => {
    const { stored, documents } = databaseInMemory();
    await formsWith(documents, first).put(run, form, 1);
    // A key is rotated: the next one seals, the former one opens.
    const rotated = formsWith(documents, `${second}\n${first}`);
    expect(await rotated.waiting(run)).toMatchObject({ message: 'Which seat?' });
    await rotated.answer(run, '1', answer);
    expect([...stored.values()].map(({ text }) => /["{]|window/.test(text))).toEqual([false]);
    expect(await formsWith(documents, second).stateOf(run, '1')).toMatchObject({ answer });
    expect(closed).toEqual([]);
  });

  it('that no key opens are gone, and do not stand in the way of others', async () => {
    const { stored, documents } = databaseInMemory();
    await formsWith(documents, first).put(run, form, 1);
    for (const keys of [second, null]) expect(await formsWith(documents, keys).waiting(run)).toBeNull();
    expect(closed).toHaveLength(2);
    await formsWith(documents, second).put(run, { ...form, message: 'Which one?' }, 1);
    expect(await formsWith(documents, second).waiting(run)).toMatchObject({ message: 'Which one?' });
    // Nor does one open under the name of another run, or changed.
    await formsWith(documents, second).put(other, form, 1);
    const [[key, one], [otherKey]] = [...stored] as [[string, StoredDocument], [string, StoredDocument]];
    stored.set(otherKey, one);
    expect(await formsWith(documents, second).waiting(other)).toBeNull();
    stored.set(key, { ...one, text: `${one.text.slice(0, -8)}AAAAAAA=` });
    expect(await formsWith(documents, second).waiting(run)).toBeNull();
  });

  it('are plain without keys, and stay readable once there are some; so are other documents', async () => {
    const { stored, documents } = databaseInMemory();
    await formsWith(documents, null).put(run, form, 1);
    expect([...stored.values()][0]?.text).toContain('Which seat?');
    expect(await formsWith(documents, first).waiting(run)).toMatchObject({ message: 'Which seat?' });
    const sealed = sealedDocuments(documents, { keys: first, isPrivate: isCallerForm, onClosed: () => undefined });
    await sealed.put('task/1', 1, '{"open":true}', null);
    expect(stored.get('task/1')?.text).toBe('{"open":true}');
    expect(await sealed.find('task/1')).toMatchObject({ text: '{"open":true}' });
  });
});
