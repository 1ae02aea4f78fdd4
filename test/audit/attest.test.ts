import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newKeySet, writeKeySet } from '@sluice/identity';
import { sluice } from '../harness/program.js';
import type { Ended } from '../harness/program.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-attest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const data = { SLUICE_DATA: join(folder, 'data') };
const run = (...args: string[]): Promise<Ended> => sluice(args, data).ended;
const file = (name: string): string => join(folder, name);

interface Report {
  readonly signer: string;
  readonly quote: { readonly kind: string } | null;
  readonly chains: readonly { readonly entries: readonly { readonly call?: Record<string, unknown> | null }[] }[];
}
const callsIn = ({ chains }: Report): readonly Record<string, unknown>[] =>
  chains.flatMap(({ entries }) => entries.flatMap(({ call }) => (call ? [call] : [])));

describe('sluice attest, after the sample', () => {
  /** What a verifier has: public keys alone, and no log. */
  let offline: Record<string, string>;
  let session = '';
  beforeAll(async () => {
    expect((await run('keys', 'new')).code).toBe(0);
    expect((await run('start', '--once')).code).toBe(0);
    const { output } = await run('tail', '--topic', 'agent.responses', '--from', 'start', '--once', '--json');
    session = (JSON.parse(output) as { key: string }).key;
    const { output: keys } = await run('keys', 'export', 'auditor');
    offline = { SLUICE_DATA: join(folder, 'nothing'), SLUICE_KEYS: keys };
  }, 240_000);
  const verify = (path: string, variables = offline): Promise<Ended> =>
    sluice(['attest', 'verify', path], variables).ended;

  it('reports each call of the run, which public keys verify without the log (M-90, M-111)', async () => {
    const made = await run('attest', '--quote');
    expect(made).toMatchObject({ code: 0 });
    const report = JSON.parse(made.output) as Report;
    expect(callsIn(report).map(({ tool }) => tool)).toEqual(
      expect.arrayContaining(['knowledge-query', 'complex-analysis', 'reset-workflow']),
    );
    expect(made.output).not.toContain('Switzerland');
    writeFileSync(file('report.json'), made.output);
    const verified = await verify(file('report.json'));
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.output).toContain('calls, as the audit recorded them, and none left out.');
    expect(verified.output).toContain('Signed by software; with a quote of software.');
  });

  it('of a session holds its calls, and is verified as that', async () => {
    const { output } = await run('attest', '--session', session);
    writeFileSync(file('session.json'), output);
    expect(JSON.parse(output)).toMatchObject({ session, quote: null });
    expect(await verify(file('session.json'))).toMatchObject({
      code: 0,
      output: expect.stringContaining(`calls of session ${session}`),
    });
  });

  it('shows what was changed or left out, and whose keys are missing (M-112)', async () => {
    const text = readFileSync(file('report.json'), 'utf8');
    writeFileSync(file('changed.json'), text.replace('"knowledge-query"', '"text-completion"'));
    expect(await verify(file('changed.json'))).toMatchObject({ code: 1, output: expect.stringContaining('✗') });
    const report = JSON.parse(text) as { chains: { entries: unknown[] }[] };
    report.chains.find(({ entries }) => entries.length > 2)?.entries.splice(1, 1);
    writeFileSync(file('shorter.json'), JSON.stringify(report));
    expect((await verify(file('shorter.json'))).code).toBe(1);
    const others = { ...offline, SLUICE_KEYS: writeKeySet(newKeySet(0)) };
    expect((await verify(file('report.json'), others)).code).toBe(1);
  });

  it('says what is wrong with what it is given', async () => {
    writeFileSync(file('other.json'), '{"type":"something"}');
    expect((await verify(file('other.json'))).errors).toContain('is no report of `sluice attest`');
    const text = readFileSync(file('report.json'), 'utf8');
    for (const [name, written, said] of [
      ['added.json', text.replace('{', '{ "note": "x",'), 'has the member "note", which is none of a report'],
      ['without.json', '{ "type": "sluice-attestation", "version": 1 }', 'lacks the member "chains"'],
    ] as const) {
      writeFileSync(file(name), written);
      expect(await verify(file(name))).toMatchObject({ code: 1, output: expect.stringContaining(said) });
    }
    for (const [name, written, said] of [
      ['twice.json', text.replace('{', '{ "type": "sluice-attestation",'), 'has type twice'],
      ['later.json', '{ "type": "sluice-attestation", "version": 2 }', 'of another version than 1'],
    ] as const) {
      writeFileSync(file(name), written);
      expect(await verify(file(name))).toMatchObject({ code: 1, errors: expect.stringContaining(said) });
    }
    const path = file('auditor-keys.json');
    writeFileSync(path, offline['SLUICE_KEYS'] ?? '', { mode: 0o600 });
    const byFile = { SLUICE_DATA: join(folder, 'nothing'), SLUICE_KEYS_FILE: path };
    expect((await verify(file('report.json'), byFile)).code).toBe(0);
    const without = await verify(file('report.json'), { SLUICE_DATA: join(folder, 'nothing') });
    expect([without.code, without.errors]).toEqual([1, expect.stringContaining('SLUICE_KEYS_FILE')]);
    expect((await run('attest', 'verify')).errors).toContain('Name the report: sluice attest verify FILE.');
    expect((await run('attest', '--from', 'yesterday')).code).toBe(1);
    // Without the audit’s private key there is nothing to sign with.
    const unsigned = await sluice(['attest'], { ...data, SLUICE_KEYS: offline['SLUICE_KEYS'] ?? '' }).ended;
    expect(unsigned.errors).toContain('no private key of the audit');
  });
});
