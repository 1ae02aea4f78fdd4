import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import { createLog, openLogFile, readEnvironment } from '@sluice/host';
import { newRequest } from '../apps/sluice/src/run-request.js';
import { command } from './harness/command.js';
import { sluice } from './harness/program.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-words-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fixture = join(import.meta.dirname, 'fixtures/released/1.sluice');
const variables = { SLUICE_DATA: join(folder, 'data') };

/** A log with a request that nobody has taken. */
beforeAll(async () => {
  const bus = await openLogFile(readEnvironment(variables), createLog('warn', process.stderr));
  const record = newRequest('q', { requestId: 'r', sessionId: 's' });
  await bus.publish([{ topic: topics.requests, key: 's', record }]);
  await bus.close();
});

describe('what a command does not take is refused', () => {
  it.each([
    ['config list extra'],
    ['config list --if-none'],
    ['config show a b'],
    ['config diff a b extra'],
    ['approvals list extra'],
    ['topics --principal User:x'],
    ['topics --acls --apply'],
    ['dead-letters list --all'],
    ['audit verify extra'],
    ['audit show s extra'],
    ['audit show s --anchors f'],
    ['audit checkpoints extra'],
    ['audit checkpoints --anchors f'],
    ['dead-letters list --dry-run'],
    ['keys list a b'],
    ['keys new a b'],
  ])('%s', async (words) => {
    const { code, errors } = await command(words.split(' '), variables);
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/^(That is more than the command takes\.|The command takes no --)/),
    ]);
  });
});

describe('commands that only read make no data folder', () => {
  it.each([
    ['replay'],
    ['tail --once'],
    ['config list'],
    ['config show'],
    ['approvals list'],
    ['dead-letters list'],
    ['audit verify'],
    ['audit show s'],
    ['audit checkpoints'],
    [`export ${join(folder, 'none.sluice')}`],
    ['keys list'],
  ])('%s', async (words) => {
    const mistyped = join(folder, 'mistyped');
    const { code, errors } = await command(words.split(' '), { SLUICE_DATA: mistyped });
    const said = words === 'keys list' ? 'is not there.' : `There is no log in ${mistyped}. Set SLUICE_DATA`;
    expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
    expect(existsSync(mistyped)).toBe(false);
  });
});

describe('a check that looked at nothing does not pass', () => {
  it('audit verify, of a log without an audit', async () => {
    const { code, output } = await command(['audit', 'verify'], variables);
    expect([code, output]).toEqual([1, '✗ There is no audit here: agent.audit holds no entries.\n']);
    const json = await command(['audit', 'verify', '--json'], variables);
    expect([json.code, JSON.parse(json.output)]).toEqual([1, expect.objectContaining({ ok: false })]);
    expect(existsSync(join(variables.SLUICE_DATA, 'keys.json'))).toBe(false);
  });

  it('audit checkpoints, of a log without an audit', async () => {
    const { code, output, errors } = await command(['audit', 'checkpoints'], variables);
    expect([code, output, errors]).toEqual([
      1,
      '',
      expect.stringContaining('There is no audit here: agent.audit holds'),
    ]);
  });

  it('audit verify, with a file that holds no checkpoints', async () => {
    const file = join(folder, 'empty.txt');
    writeFileSync(file, '\n');
    const { code, errors } = await command(['audit', 'verify', '--anchors', file], variables);
    expect([code, errors]).toEqual([1, expect.stringContaining(`${file} holds no checkpoints.`)]);
  });

  it('replay, with and without a candidate', async () => {
    const said = '✗ Nothing was replayed: no decision is in what was selected.\n';
    const none = await command(['replay', '--export', fixture, '--session', 'nosuch']);
    expect([none.code, none.output]).toEqual([1, expect.stringContaining(said)]);
    const json = await command(['replay', '--export', fixture, '--session', 'nosuch', '--json']);
    expect([json.code, JSON.parse(json.output)]).toEqual([1, expect.objectContaining({ replayed: 0 })]);
    const candidate = join(folder, 'candidate.yaml');
    writeFileSync(candidate, 'tool: { now: { type: get_current_time } }\npolicy: { allowed_tools: [now] }\n');
    const prospect = await command(['replay', '--export', fixture, '--session', 'nosuch', '--config', candidate]);
    expect([prospect.code, prospect.output]).toEqual([1, said]);
  });
});

describe('ranges and times', () => {
  const date = '2026-11-22T05:00:00Z';
  it.each([
    [['--from', date, '--to', '2026-11-21'], `--to is "2026-11-21", which is not after --from "${date}"`],
    [['--from', '1795323600000', '--to', '1795323600000'], 'so there is nothing between them'],
    [['--from', '2026'], '--from is "2026"; it must be a time'],
    [['--from', 'day 7'], '--from is "day 7"; it must be a time'],
    [['--from=-5'], '--from is "-5"; it must be a time'],
    [['--to', '2026-11-22 day 7'], '--to is "2026-11-22 day 7"; it must be a time'],
    [['--to', '2026-13-01'], '--to is "2026-13-01"; it must be a time'],
    [['--to', '2026-02-30'], '--to is "2026-02-30"; it must be a time'],
    [['--offsets', 'agent.steps/0/9-3'], 'its last offset is before its first'],
    [['--offsets', 'agent.requests/0/0'], '--offsets names agent.requests, which holds no decisions.'],
  ])('replay %j is refused', async (words, said) => {
    const { code, errors } = await command(['replay', '--export', fixture, ...words]);
    expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
  });

  it.each(['2026-11-22 day 7', '2026-02-30', '2026-11-31T05:00Z', 'yesterday', '5'])(
    'dead-letters list --since %s is refused',
    async (since) => {
      const { code, errors } = await command(['dead-letters', 'list', '--since', since], variables);
      expect([code, errors]).toEqual([1, expect.stringContaining(`--since is "${since}"; write how long ago`)]);
    },
  );

  it.each(['90s', '7d', '2026-02-28', '2024-02-29T05:00Z'])('dead-letters list --since %s is taken', async (since) => {
    expect((await command(['dead-letters', 'list', '--since', since], variables)).errors).toBe('');
  });

  it.each(['2026-01-01', '2020-01-01T05:00Z', '2020-01-01T05:00:00.123+02:00', '1577836800000'])(
    'replay --from %s is taken',
    async (time) => {
      expect((await command(['replay', '--export', fixture, '--from', time])).errors).toBe('');
    },
  );
});

it.each([
  [['replay', '--export', folder], `The export ${folder} cannot be read: it is no file.`],
  [['keys', 'list', folder], `${folder} cannot be read: `],
  [['audit', 'verify', '--anchors', folder], `${folder} cannot be read: `],
  [['audit', 'verify', '--anchors', `${folder}/nosuch`], `${folder}/nosuch cannot be read: `],
])('a file that cannot be read is named in a sentence: %j', async (words, said) => {
  const { code, errors } = await command(words, variables);
  expect([code, errors]).toEqual([1, expect.stringContaining(said)]);
});

it('tail names a record that cannot be decoded with its whole place, as JSON where JSON is asked for', async () => {
  const data = join(folder, 'undecodable');
  mkdirSync(data);
  const bus = await openLogFile(readEnvironment({ SLUICE_DATA: data }), createLog('warn', process.stderr));
  await bus.publish([
    { topic: topics.requests, key: 's', record: newRequest('q', { requestId: 'r', sessionId: 's' }) },
  ]);
  await bus.close();
  const database = new DatabaseSync(join(data, 'log.sqlite'));
  database.exec(`UPDATE records SET value = x'00'`);
  database.close();
  const words = ['tail', '--from', 'start', '--once'];
  const { output } = await command([...words, '--json'], { SLUICE_DATA: data });
  expect(JSON.parse(output)).toEqual({
    undecodable: { topic: 'agent.requests', partition: 0, offset: 0, reason: expect.any(String) },
  });
  expect((await command(words, { SLUICE_DATA: data })).output).toMatch(/undecodable agent\.requests\/0\/0 \S/);
});

it('a data folder that cannot be made is said at once', async () => {
  const file = join(folder, 'now.yaml');
  writeFileSync(file, 'tool: { now: { type: get_current_time } }\npolicy: { allowed_tools: [now] }\n');
  const program = sluice(['config', 'apply', file], { SLUICE_DATA: '/proc/x/y' });
  const timer = setTimeout(() => program.process.kill('SIGKILL'), 20_000);
  const { code, errors } = await program.ended;
  clearTimeout(timer);
  expect([code, errors]).toEqual([1, expect.stringContaining('The data folder /proc/x/y cannot be written')]);
});
