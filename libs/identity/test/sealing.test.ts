import { describe, expect, it } from '@jest/globals';
import { createSeals, keysFor, newKeySet, readKeySet, rotate, writeKeySet } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';

const text = '{"authorization":"Bearer secret"}';
const sealOf = async (set: KeySet) => (await createSeals(set).seal('filter', text)) ?? '';

describe('sealing to a role', () => {
  const set = newKeySet(1);

  it('is opened by that role alone; doors have public keys alone', async () => {
    const door = keysFor('gateway', set);
    expect(writeKeySet(door)).not.toContain('"d"');
    const sealed = await sealOf(door);
    expect(sealed).not.toContain(Buffer.from('secret').toString('base64url'));
    expect(await createSeals(keysFor('filter', set)).open('filter', sealed)).toBe(text);
    for (const role of ['executor', 'agent', 'gateway'] as const) {
      const seals = createSeals(keysFor(role, set));
      expect([role, seals.canOpen('filter'), await seals.open('filter', sealed)]).toEqual([role, false, null]);
    }
    expect(await createSeals(set).open('executor', sealed)).toBeNull();
  });

  it('for calls is opened by the executor, and by the filter, which ends those that no executor takes', async () => {
    const sealed = (await createSeals(keysFor('mcp', set)).seal('call', text)) ?? '';
    for (const role of ['executor', 'filter'] as const)
      expect(await createSeals(keysFor(role, set)).open('call', sealed)).toBe(text);
    for (const role of ['agent', 'gateway', 'audit'] as const)
      expect(await createSeals(keysFor(role, set)).open('call', sealed)).toBeNull();
    // A set of the version before has no keys for it.
    const former = { ...set, sealing: (set.sealing ?? []).filter(({ role }) => role !== 'call') };
    expect(readKeySet(writeKeySet(former), 'it')).toEqual(former);
  });

  it('finds what was changed, cut or made up', async () => {
    const seals = createSeals(set);
    const sealed = await sealOf(set);
    const parts = sealed.split('.');
    const changed = parts.map((_, at) =>
      parts.map((part, n) => (n === at ? `${part.slice(0, -2)}AA` : part)).join('.'),
    );
    for (const one of ['', 'x', 'a.b.c.d.e', sealed.slice(0, -9), ...changed.slice(1)])
      expect([one, await seals.open('filter', one)]).toEqual([one, null]);
  });

  it('goes on over rotations, whichever process has the new keys first; what the key before the last one sealed is closed', async () => {
    const second = rotate(set, 2);
    const third = rotate(second, 3);
    expect(await createSeals(set).open('filter', await sealOf(second))).toBe(text);
    expect(await createSeals(second).open('filter', await sealOf(set))).toBe(text);
    expect(await createSeals(third).open('filter', await sealOf(set))).toBeNull();
  });

  it('waits for keys that the others have already, and refuses nothing meanwhile', async () => {
    const sealed = await sealOf(newKeySet(9));
    await expect(createSeals(set).open('filter', sealed)).rejects.toMatchObject({
      code: 'identity_unreachable',
      retryable: true,
      message: expect.stringContaining('sluice keys export filter'),
    });
  });

  it('is not done with keys of a former version, which a rotation completes', async () => {
    const { sealing: _, ...former } = set;
    expect(createSeals(former).canSeal).toBe(false);
    expect(await createSeals(former).seal('filter', text)).toBeNull();
    expect(readKeySet(writeKeySet(former), 'it')).toEqual(former);
    const completed = rotate(former, 2);
    expect(await createSeals(completed).open('filter', await sealOf(completed))).toBe(text);
  });

  it('keeps its keys in the file, and says which of them is wrong', () => {
    expect(readKeySet(writeKeySet(set), 'it')).toEqual(set);
    const broken = writeKeySet({ ...set, sealing: (set.sealing ?? []).map((key) => ({ ...key, x: 'AAAA' })) });
    expect(() => readKeySet(broken, 'keys.json')).toThrow('keys.json, sealing key 1: it is no X25519 key');
    const none = writeKeySet({ ...set, sealing: [] });
    expect(() => readKeySet(none, 'keys.json')).toThrow('one key to which credentials are sealed for the filter');
  });
});
