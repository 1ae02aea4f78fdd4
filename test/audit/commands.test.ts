import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive, writeArchive } from '@sluice/archive';
import { allTopics } from '@sluice/contracts';
import { newKeySet, writeKeySet } from '@sluice/identity';
import { sluice } from '../harness/program.js';
import type { Ended } from '../harness/program.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const run = (...args: string[]): Promise<Ended> => sluice(args, { SLUICE_DATA: folder }).ended;

/** Each command is a process that starts anew. */
const testMs = 240_000;

describe('sluice audit, after the sample', () => {
  let session = '';
  beforeAll(async () => {
    expect((await run('start', '--once')).code).toBe(0);
    const { output } = await run('tail', '--topic', 'agent.responses', '--from', 'start', '--once', '--json');
    session = (JSON.parse(output) as { key: string }).key;
  }, testMs);

  it(
    'verify finds nothing, and everything sealed',
    async () => {
      const { code, output } = await run('audit', 'verify');
      expect(output).toMatch(/^\d+ entries in 6 chains, 6 checkpoints\.\n\d+ records compared with their entries/);
      expect(output).toContain('Nothing was changed, dropped, inserted or moved.');
      expect(code).toBe(0);
    },
    testMs,
  );

  it(
    'verify finds the same in an export, and where a byte of it was changed says so',
    async () => {
      const file = join(folder, 'whole.sluice');
      expect((await run('export', file)).code).toBe(0);
      const whole = await run('audit', 'verify', '--export', file);
      // With another installation's keys.
      const others = { SLUICE_KEYS: writeKeySet(newKeySet(0)) };
      const foreign = await sluice(['audit', 'verify', '--export', file], others).ended;
      expect([foreign.code, foreign.output]).toEqual([
        1,
        expect.stringMatching(/unknown key .*names? the key audit-[0-9a-f]{12}/),
      ]);
      expect(foreign.output).not.toMatch(/forged|rewritten/);
      expect(whole).toMatchObject({ code: 0, output: (await run('audit', 'verify')).output });
      const part = join(folder, 'part.sluice');
      expect((await run('export', '--session', session, part)).code).toBe(0);
      expect(await run('audit', 'verify', '--export', part)).toMatchObject({
        code: 1,
        errors: expect.stringMatching(/has a part of the records alone, so its chains have gaps\. Make one without/),
      });
      const archive = await openArchive(file);
      const lacking = join(folder, 'lacking.sluice');
      const records = archive.read(allTopics, { from: 'start' });
      await writeArchive(lacking, { ...archive.header, records, undecodable: () => 2 });
      expect(await run('audit', 'verify', '--export', lacking)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('lacks 2 records that could not be decoded'),
      });
      expect((await run('audit', 'verify', '--export', lacking, '--without-sources')).code).toBe(0);
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      const changed = await run('audit', 'verify', '--export', file);
      expect(changed).toMatchObject({ code: 1, errors: expect.stringContaining('was changed') });
    },
    testMs,
  );

  it(
    'show tells the session in words, in order, and --json a line an entry, with the hashes of a call (XB-26)',
    async () => {
      const { output } = await run('audit', 'show', session);
      const story = [
        'asked “Which countries border Switzerland',
        'iteration 1 in state undefined: user:local of local was offered knowledge-query',
        'hidden: graph-update (state)',
        'the model chose core__knowledge-query',
        'user:local of local called knowledge-query {"entity":"Switzerland"',
        'the state went from undefined to analysis by knowledge-query',
        'answered: Which countries border Switzerland?',
      ];
      const places = story.map((part) => output.indexOf(part));
      expect(places).toEqual([...places].sort((one, other) => one - other));
      expect(places[0]).toBeGreaterThan(0);
      const lines = (await run('audit', 'show', session, '--json')).output.trim().split('\n');
      const told = lines.map((line) => JSON.parse(line) as { kind: string; details: Record<string, unknown> });
      expect([told[0]?.kind, told.at(-1)?.kind]).toEqual(['request', 'run_ended']);
      for (const { details } of told.filter(({ kind }) => kind === 'tool_call')) {
        expect(details['arguments_hash']).toMatch(/^[0-9a-f]{64}$/);
        expect(details['result_hash']).toMatch(/^executor-[0-9a-f]{12}:[0-9a-f]{64}$/);
      }
      expect(await run('audit', 'show', 'nobody')).toMatchObject({
        code: 1,
        output: 'The audit has no entries of session nobody.\n',
      });
      expect(await run('audit', 'show', 'nobody', '--json')).toMatchObject({
        code: 1,
        output: '',
        errors: expect.stringContaining('The audit has no entries of session nobody.'),
      });
      expect(await run('audit', 'show', '')).toMatchObject({
        code: 1,
        errors: expect.stringContaining('Name the session'),
      });
      expect((await run('audit', 'prove')).errors).toContain('There is no "prove"; say what to do with the audit log.');
      expect(output).toContain('Whether anybody changed it says `sluice audit verify`.');
    },
    testMs,
  );

  it(
    'checkpoints prints one for each chain, and verify holds the log against them, also once its end is cut away',
    async () => {
      const kept = join(folder, 'checkpoints.txt');
      const { output } = await run('audit', 'checkpoints');
      expect(output.trim().split('\n')).toHaveLength(6);
      writeFileSync(kept, output);
      expect((await run('audit', 'verify', '--anchors', kept)).code).toBe(0);

      const database = new DatabaseSync(join(folder, 'log.sqlite'));
      database.exec(`DELETE FROM records WHERE topic = (SELECT id FROM topics WHERE name = 'agent.audit')
      AND key = 'agent.responses/0'`);
      database.close();
      const { code, output: uncut } = await run('audit', 'verify');
      expect(code).toBe(0);
      expect(uncut).toMatch(
        /\nagent\.responses\/0: 1 record has no entry yet, the oldest since \d{4}-\d\d-\d\dT[\d:.]+Z; the chain has no entries\.\n/,
      );
      const chains = JSON.parse((await run('audit', 'verify', '--json')).output).chains as { chain: string }[];
      expect(chains.find(({ chain }) => chain === 'agent.responses/0')).toMatchObject({
        entries: 0,
        waiting: 1,
        waiting_since: expect.stringMatching(/^\d{4}-/),
      });
      const cut = await run('audit', 'verify', '--anchors', kept);
      expect(cut.code).toBe(1);
      expect(cut.output).toContain(
        'dropped agent.responses/0, entry 1: Records that were written are not there. An anchored checkpoint was signed for entry 1.',
      );
    },
    testMs,
  );

  it(
    'verify takes nothing for forged because the keys are not there, and makes none',
    async () => {
      const keys = join(folder, 'keys.json');
      renameSync(keys, `${keys}.away`);
      const { code, errors } = await run('audit', 'verify');
      expect([code, errors]).toEqual([
        1,
        expect.stringContaining(`${keys} is not there, so what was signed cannot be`),
      ]);
      expect(existsSync(keys)).toBe(false);
      renameSync(`${keys}.away`, keys);
    },
    testMs,
  );

  it(
    'verify --json names what it found for machines',
    async () => {
      const database = new DatabaseSync(join(folder, 'log.sqlite'));
      database.exec(
        `DELETE FROM records WHERE offset = 0 AND topic = (SELECT id FROM topics WHERE name = 'agent.steps')`,
      );
      database.exec(`UPDATE records SET key = 'x' WHERE key = 'agent.requests/0'
      AND topic = (SELECT id FROM topics WHERE name = 'agent.audit')`);
      database.close();
      const { code, output } = await run('audit', 'verify', '--json');
      expect(code).toBe(1);
      expect(JSON.parse(output)).toMatchObject({
        ok: false,
        findings: [
          {
            ...{ kind: 'moved', chain: 'agent.requests/0', entries: { first: 1, last: 1 }, place: { partition: 0 } },
            runs: [{ request_id: expect.stringMatching(/./), session_id: session, tenant: null }],
            differences: [{ entry: 1, field: 'key', was: 'agent.requests/0', is: 'x' }],
          },
          // The checkpoint beside the chain has the same key.
          { kind: 'moved', chain: 'agent.requests/0', entries: null, place: { partition: 0 } },
        ],
        sources: { gone: 1 },
      });
      const { output: text } = await run('audit', 'verify');
      expect(text).toMatch(
        new RegExp(`\\n    run \\S+, session ${session}\\n    entry 1, key: was "agent.requests/0", is "x"\\n`),
      );
    },
    testMs,
  );

  it.each([
    [[], 'Say what to do with the audit log.'],
    [['prove'], 'There is no "prove"; say what to do with the audit log.'],
    [['show'], 'Name the session.'],
    [['verify', 'all'], 'That is more than the command takes.'],
    [
      ['verify', '--anchors', join(folder, 'keys.json')],
      'keys.json, line 1, is no line of `sluice audit checkpoints`.',
    ],
  ])(
    'says what to change: %j',
    async (args, said) => {
      const { code, errors } = await run('audit', ...args);
      expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
    },
    testMs,
  );
});
