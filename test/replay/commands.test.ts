import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { newKeySet, readKeySet, writeKeySet } from '@sluice/identity';
import { workflowConfiguration } from '../harness/configurations.js';
import { command } from '../harness/command.js';
import { sluice } from '../harness/program.js';
import type { TestSystem } from '../harness/system.js';
import { recordRuns } from './recorded.js';

const fixture = join(import.meta.dirname, '../fixtures/released/1.sluice');
const keys = { SLUICE_KEYS_FILE: join(import.meta.dirname, '../fixtures/released/1.keys.json') };

describe('sluice export and sluice replay', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-replay-'));
  const file = join(folder, 'log.sluice');
  let system: TestSystem;
  let data: Record<string, string>;
  beforeAll(async () => {
    system = await recordRuns();
    data = { SLUICE_DATA: system.folder };
  });
  afterAll(async () => {
    await system.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('replay the log of the data folder while services run on it, with its keys', async () => {
    const { code, output } = await sluice(['replay'], data).ended;
    expect([code, output]).toEqual([0, expect.stringContaining('81 decisions replayed: 81 equal, 0 different; 0 not')]);
    expect(output).not.toContain('no keys');
  });

  it('write a file and replay it; without keys that is said', async () => {
    const exported = await command(['export', file], data);
    expect([exported.code, exported.output]).toEqual([
      0,
      expect.stringMatching(/✓ .*log\.sluice: \d+ records, \d+ bytes, SHA-256 /),
    ]);
    // Elsewhere than in the project, whose own data folder has keys once it was started.
    const empty = join(folder, 'nothing');
    const { code, output } = await command(['replay', '--export', file], { SLUICE_DATA: empty });
    expect([code, output]).toEqual([0, expect.stringContaining('81 equal')]);
    expect(output).toContain('there are no keys');
  });

  it('are equal with the keys of another installation too, which is said, and called nothing else', async () => {
    const other = mkdtempSync(join(tmpdir(), 'sluice-other-'));
    writeFileSync(join(other, 'keys.json'), writeKeySet(newKeySet(0)));
    try {
      const { code, output } = await command(['replay', '--export', file], { SLUICE_DATA: other });
      expect([code, output]).toEqual([0, expect.stringContaining('81 equal')]);
      expect(output).toMatch(
        /decisions are signed by keys that you do not have \((filter|agent|executor)-[0-9a-f]{12}/,
      );
      const { output: own } = await command(['replay', '--export', file], data);
      expect(own).not.toContain('that you do not have');
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  it('never write a credential', async () => {
    const headers = { authorization: 'Bearer a-secret-that-nobody-keeps', traceparent: '00-1' };
    const { record } = (await system.all('agent.requests'))[0] ?? {};
    if (record === undefined) throw new Error('There is no request.');
    await system.bus.publish([{ topic: topics.requests, key: 's', record: { ...record, requestId: 'with' }, headers }]);
    await system.responseOf('with');
    await command(['export', '--session', 'session-workflow', file], data);
    const { output } = await command(['replay', '--export', file, '--json'], {});
    expect(output).toContain('"replayed"');
    const { openArchive } = await import('@sluice/archive');
    const found = [];
    for await (const message of (await openArchive(file)).read([topics.requests], { from: 'start' }))
      found.push(message);
    expect(found.some(({ headers: kept }) => kept['traceparent'] === '00-1')).toBe(true);
    expect(JSON.stringify(found)).not.toContain('a-secret-that-nobody-keeps');
  });

  it('end with 1 where something differs, and name record, field, what is recorded and what was derived', async () => {
    const damaged = join(folder, 'other.json');
    // The filter’s keys under their names, and not the keys that signed.
    const set = readKeySet(readFileSync(keys.SLUICE_KEYS_FILE, 'utf8'), 'the fixture');
    const [other] = newKeySet(0).keys;
    const swapped = set.keys.map((key) => (key.role === 'filter' ? { ...key, x: other?.x ?? '', d: null } : key));
    writeFileSync(damaged, writeKeySet({ keys: swapped }));
    const args = ['replay', '--export', fixture, '--session', 'session-late'];
    const { code, output } = await command(args, { SLUICE_KEYS_FILE: damaged });
    expect([code, output]).toEqual([0, expect.stringContaining('1 equal')]);
    const signed = ['replay', '--export', fixture, '--session', 'session-no-tools'];
    const others = await command(signed, { SLUICE_KEYS_FILE: damaged });
    expect(others.code).toBe(1);
    expect(others.output).toMatch(
      /different agent\.toolsets\/0\/\d+ tools of run no-tools\n {3}grant: recorded .*, derived /,
    );
    const json = await command([...signed, '--json'], { SLUICE_KEYS_FILE: damaged });
    expect(JSON.parse(json.output.split('\n')[0] ?? '')).toMatchObject({
      topic: 'agent.toolsets',
      request_id: 'no-tools',
      outcome: 'different',
      differences: [{ field: 'grant', recorded: expect.any(String), derived: expect.any(String) }],
    });
    expect((await command(signed, keys)).code).toBe(0);
  });

  it('say what a candidate would change, in words and as JSON', async () => {
    const candidate = join(folder, 'candidate.yaml');
    writeFileSync(candidate, workflowConfiguration({ allowed: 'text-completion' }));
    const args = ['replay', '--export', fixture, '--config', candidate];
    const { code, output } = await command(args);
    expect(code).toBe(0);
    expect(output).toMatch(/\d+ × knowledge-query would not be offered\n +such as agent\.toolsets\/0\/\d+ \(run \w/);
    expect(output).toMatch(/× a call of knowledge-query: made, would be refused: not_allowed/);
    for (const by of ['tool', 'group', 'state', 'tenant']) expect(output).toContain(`by ${by}`);
    expect(output).toMatch(/Under c-[0-9a-f]{16} \d+ of \d+ decisions would be otherwise; 0 not replayable/);
    const lines = (await command([...args, '--json'])).output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines[0]).toMatchObject({ changes: [{ kind: 'tools', lost: expect.arrayContaining(['knowledge-query']) }] });
    expect(lines.at(-1)).toMatchObject({
      considered: expect.any(Number),
      by: { tenant: { local: expect.any(Number) } },
    });
  });

  it('say nothing of a candidate whose tools are not there: each of their calls would seem to be refused', async () => {
    const candidate = join(folder, 'without-server.yaml');
    const server = join(folder, 'no-such-server.mjs');
    writeFileSync(candidate, workflowConfiguration({ server }));
    const args = ['replay', '--export', fixture, '--config', candidate];
    const { code, output, errors } = await command(args);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/without-server\.yaml cannot be said.*\ncomplex-analysis: .*analysis.*\nreset-workflow: /);
    writeFileSync(candidate, workflowConfiguration({ server, allowed: 'text-completion' }));
    expect((await command(args)).code).toBe(0);
  });

  it.each([
    // All but the end of a request that was refused before anybody knew whose it was.
    [['--tenant', 'local'], 80],
    [['--tenant', 'local', '--session', 'session-workflow'], 16],
    [['--tool', 'reset-workflow'], 43],
    [['--tool', 'core__text-completion'], 37],
    [['--offsets', 'agent.toolsets/0/3-6'], 4],
    // What is before a time, what is from it on, and a part of that: 20 and 61 of all 81.
    [['--to', '1795324551683'], 20],
    [['--from', '1795324551683'], 61],
    [['--from', '2026-11-22T05:15:51.683Z', '--to', '1795324551755'], 20],
  ])('replay of what was recorded only %j', async (selected, count) => {
    const { code, output } = await command(['replay', '--export', fixture, ...selected], keys);
    const line = `${count} decisions replayed: ${count} equal, 0 different; 0 not replayable`;
    expect([code, output]).toEqual([0, expect.stringContaining(line)]);
  });

  it('say where an export has nothing but configurations, as for an unknown session', async () => {
    const { code, output } = await command(['export', '--session', 'nobody', file], data);
    expect([code, output]).toEqual([0, expect.stringMatching(/: \d+ records?, .*\nIt has nothing but configurations/)]);
    expect((await command(['export', '--session', 'session-workflow', file], data)).output).not.toContain(
      'nothing but',
    );
  });

  it('refuse a file that is cut short', async () => {
    const short = join(folder, 'short.sluice');
    copyFileSync(fixture, short);
    writeFileSync(short, readFileSync(short).subarray(0, 9_000));
    const { code, errors } = await command(['replay', '--export', short]);
    expect([code, errors]).toEqual([1, expect.stringContaining('is cut short')]);
  });

  it.each([
    [['export'], 'Give one file to write to'],
    [['export', 'a', 'b'], 'Give one file to write to'],
    [['export', '--from', 'yesterday', 'a'], '--from is "yesterday"; it must be a time'],
    [['export', '--topic', 'agent.nope', 'a'], 'There is no topic agent.nope'],
    [['replay', '--offsets', 'agent.steps'], '--offsets is "agent.steps"; it must be a topic, a partition and offsets'],
    [['replay', '--offsets', 'agent.nope/0/1'], '--offsets is "agent.nope/0/1"'],
    [['replay', '--export', '/nowhere'], 'The export /nowhere cannot be read'],
    [['replay', '--config', '/nowhere.yaml', '--export', fixture], 'no such file'],
    [['replay', '--config', tmpdir(), '--export', fixture], 'found a folder; write the path of a configuration file'],
  ])('refuse %j with a sentence', async (args, said) => {
    const { code, errors } = await command(args, data);
    expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
  });
});
