import { beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonValue, Verifier } from '@sluice/core';
import type { AuditRecord } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { createSignatures, newKeySet } from '@sluice/identity';
import {
  after,
  attest,
  checkpointEntry,
  noHead,
  seal,
  signHead,
  softwareQuotes,
  verifyAttestation,
} from '@sluice/audit';
import type { Attestation, Head } from '@sluice/audit';
import { signatures } from './recorded.js';

/** A chain of calls at 1,000, 1,001 …, of two sessions in turn, with a checkpoint behind every fifth entry. */
async function calls(partition: number, count: number): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  let head: Head = noHead;
  const add = (record: AuditRecord): void => {
    records.push(record);
    head = after(head, record);
  };
  for (let n = 0; n < count; n++) {
    const source = { topic: 'agent.steps', partition, offset: n, timestamp: 1_000 + n, hash: `source-${n}` };
    const sessionId = `session-${n % 2}`;
    const details = JSON.stringify({
      tool: 'clock',
      actor: 'user:ann',
      tenant: 'acme',
      arguments_hash: 'a',
      arguments: 'secret',
      result_hash: 'k:r',
    });
    add(seal({ kind: 'tool_call', requestId: `r-${n}`, sessionId, configVersion: 'c-1', details }, source, head));
    if (n % 5 === 4) add(checkpointEntry(source, head, 1_000 + n, await signHead(source, head, 1_000 + n, signatures)));
  }
  return records;
}

const log = (records: readonly AuditRecord[]): Pick<Bus, 'read'> =>
  ({
    async *read() {
      for (const record of records) yield { record };
    },
  }) as unknown as Pick<Bus, 'read'>;
const whole = { from: 1_003, to: 1_009, session: null };
const made = (
  records: readonly AuditRecord[],
  span: { from: number | null; to: number | null; session: string | null } = whole,
) => attest(log(records), span, { signatures, quotes: softwareQuotes(signatures) });
const changed = (report: Attestation, change: (copy: Attestation) => void): Attestation => {
  const copy = structuredClone(report);
  change(copy);
  return copy;
};
type Loose = Record<string, unknown>;
const entriesOf = (copy: Attestation) => copy.chains[0]?.entries as unknown as (Loose & { call: Loose })[];
const json = (report: unknown) => JSON.parse(JSON.stringify(report)) as JsonValue;
const verified = (report: unknown, keys: Verifier = signatures) => verifyAttestation(json(report), keys);
const problems = async (report: unknown) => (await verified(report)).problems.join('\n');

describe('an attestation', () => {
  let records: AuditRecord[] = [];
  let report: Attestation;
  beforeAll(async () => {
    records = [...(await calls(0, 20)), ...(await calls(1, 15))];
    report = await made(records);
  });

  it('proves each call of its span to a holder of public keys, without what the calls held (M-90, M-111, XM-5)', async () => {
    expect(await verified(report)).toEqual({ problems: [], calls: 12 });
    expect(entriesOf(report)[1]?.call).toMatchObject({
      ...{ request_id: 'r-3', tool: 'clock', actor: 'user:ann', config_version: 'c-1', result_hash: 'k:r' },
      arguments_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
    });
    expect(JSON.stringify(report)).not.toContain('secret');
    expect(report).toMatchObject({ signer: 'software', quote: { kind: 'software' } });
  });

  it('is the same, byte for byte, also when the log has grown', async () => {
    const grown = [...(await calls(0, 40)), ...(await calls(1, 40))];
    expect(JSON.stringify(await made(grown))).toBe(JSON.stringify(report));
  });

  it.each([
    ...['tool', 'actor', 'tenant', 'config_version', 'result_hash', 'arguments_hash', 'session_id', 'request_id'].map(
      (name) =>
        [
          name,
          (copy: Attestation): void => void Object.assign(entriesOf(copy)[2]?.call ?? {}, { [name]: 'x' }),
          'Entry 5 of agent.steps/0 is not what',
        ] as const,
    ),
    [
      'an entry that is gone',
      (copy: Attestation): void => void entriesOf(copy).splice(2, 1),
      'The entries 5 to 5 of agent.steps/0 are left out.',
    ],
    [
      'a beginning that is gone',
      (copy: Attestation): void => void entriesOf(copy).splice(0, 2),
      'before entry 5 are left out',
    ],
    ['an end that is gone', (copy: Attestation): void => void entriesOf(copy).splice(-2), 'are left out'],
    [
      'another span',
      (copy: Attestation): void => void ((copy as unknown as Loose)['to'] = 1_100),
      'The report was changed after it was signed.',
    ],
    ['no entries', (copy: Attestation): void => void entriesOf(copy).splice(0), 'shows no entry of agent.steps/0'],
    [
      'another signature',
      (copy: Attestation): void => void ((copy as unknown as Loose)['signature'] = 'a.b.c'),
      'The report is not signed by the audit.',
    ],
    [
      'another checkpoint',
      (copy: Attestation): void =>
        void ((copy.chains[0] as unknown as Loose)['checkpoint'] = copy.chains[1]?.checkpoint),
      'does not end where its checkpoint was signed',
    ],
    [
      'another quote',
      (copy: Attestation): void => void ((copy as unknown as Loose)['quote'] = { kind: 'tdx', evidence: 'AAAA' }),
      'The tdx quote is of another report.',
    ],
  ] as const)('shows a change of it: %s (M-112)', async (_, change, said) => {
    expect(await problems(changed(report, change))).toContain(said);
  });

  it.each([
    ['the report', (copy: Loose) => copy, 'The report has the member "note"'],
    ['a chain', (copy: Loose) => (copy['chains'] as Loose[])[1], 'chains[1] has the member "note"'],
    ['a tree', (copy: Loose) => (copy['chains'] as Loose[])[0]?.['tree'], 'chains[0].tree has the member "note"'],
    ['an entry', (copy: Loose) => entriesOf(copy as never)[2], 'chains[0].entries[2] has the member "note"'],
    ['a quote', (copy: Loose) => copy['quote'], 'quote has the member "note"'],
  ] as const)('names a member that was added to %s (M-112)', async (_, place, said) => {
    const copy = json(report) as Loose;
    Object.assign(place(copy) as Loose, { note: 'All is well.' });
    expect(await problems(copy)).toBe(`${said}, which is none of a report: it was added.`);
  });

  it('says of a call with a member more that it is not what the tree holds (M-112)', async () => {
    const more = changed(report, (copy) => void Object.assign(entriesOf(copy)[2]?.call ?? {}, { note: 'x' }));
    expect(await problems(more)).toContain('Entry 5 of agent.steps/0 is not what');
  });

  it.each([
    [null, 'The report is null; it must be an object.'],
    [[], 'The report is a list; it must be an object.'],
    [{ type: 'sluice-attestation', version: 2 }, 'version is the number "2"; it must be 1.'],
  ])('says of %j in sentences that it is no report', async (value, said) => {
    const { problems: found, calls } = await verified(value);
    expect([found, calls]).toEqual([expect.arrayContaining([said]), 0]);
  });

  it('says in a sentence what is wrong with any member that is missing or of another kind', async () => {
    const paths = (value: unknown, at: readonly (string | number)[] = []): (readonly (string | number)[])[] =>
      typeof value !== 'object' || value === null
        ? [at]
        : [at, ...Object.entries(value).flatMap(([name, one]) => paths(one, [...at, name]))];
    // Of each place one: lists have many alike.
    const all = paths(json(report)).filter(
      (path) => path.length > 0 && path.every((name) => !/^([1-9]|\d\d)/.test(String(name))),
    );
    expect(all.length).toBeGreaterThan(30);
    for (const path of all)
      for (const wrong of [undefined, {}, 7.5, [[]]]) {
        const copy = json(report) as Loose;
        const holder = path.slice(0, -1).reduce<Loose>((found, name) => found[name] as Loose, copy);
        const last = path.at(-1) ?? '';
        if (wrong === undefined && !Array.isArray(holder)) Reflect.deleteProperty(holder, last);
        else holder[last] = wrong ?? null;
        const { problems: found } = await verified(copy);
        expect([path, found]).toEqual([path, expect.arrayContaining([expect.stringMatching(/^\S.*\.$/)])]);
      }
  });

  it('names the key that is missing, and refuses one of another installation (M-112)', async () => {
    const others = createSignatures(newKeySet(0));
    expect((await verified(report, others)).problems[0]).toMatch(/signed by the key audit-.* not among yours/);
  });

  it('of one session hides the others’ calls, and shows that none of its own is hidden', async () => {
    const of = { ...whole, session: 'session-1' };
    const one = await made(records, of);
    expect(await verified(one)).toEqual({ problems: [], calls: 6 });
    expect(JSON.stringify(one)).not.toContain('session-0');
    const hidden = changed(one, (copy) => {
      const entry = entriesOf(copy).find(({ call }) => (call as Loose | undefined) !== undefined);
      if (entry !== undefined) delete (entry as Loose)['call'];
    });
    expect(await problems(hidden)).toContain('is a call that the report leaves out');
  });

  it('refuses a chain that is not as it was written, and a span without a checkpoint behind it', async () => {
    const [first, second, ...rest] = records;
    if (first === undefined || second === undefined) throw new Error('There are records.');
    await expect(made([first, { ...second, details: '{}' }, ...rest])).rejects.toThrow(
      'Entry 2 of agent.steps/0 is not',
    );
    await expect(made([first, ...rest])).rejects.toThrow('See `sluice audit verify`');
    await expect(made(await calls(0, 8))).rejects.toThrow('under no checkpoint yet');
    await expect(made([])).rejects.toThrow('nothing to attest');
  });

  it.each([1, 2, 3, 5, 8, 13])('holds for a chain of %d calls and an open span', async (count) => {
    const some = await calls(0, count);
    const all = { from: null, to: null, session: null };
    if (count < 5) await expect(made(some, all)).rejects.toThrow('has no checkpoint');
    else expect((await verified(await made(some, all))).problems).toEqual([]);
  });

  it.each([
    ['sgx', 368],
    ['tdx', 568],
    ['sev-snp', 80],
  ])('finds its hash in a quote of %s', async (kind, offset) => {
    const { bodyHash } = await import('../src/attest/report.js');
    const quote = Buffer.alloc(1_184);
    Buffer.from(bodyHash(report), 'hex').copy(quote, offset);
    const quoted = { ...report, quote: { kind, evidence: quote.toString('base64') } };
    expect(await problems(quoted)).toBe('');
  });
});
