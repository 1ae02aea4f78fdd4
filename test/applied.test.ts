import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog, openLogFile, readEnvironment } from '@sluice/host';
import { sluice } from './harness/program.js';

const testMs = 240_000;

describe('what was applied in a data folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-applied-'));
  const variables = { SLUICE_DATA: join(folder, 'data') };
  const run = (...args: string[]) => sluice(args, variables).ended;
  const versions = async () => (await run('config', 'list')).output.trim().split('\n');
  let applied = '';
  beforeAll(async () => {
    const file = join(folder, 'own.yaml');
    writeFileSync(
      file,
      'tool: { clock: { type: get_current_time, group: [work] } }\npolicy: { allowed_tools: [clock] }\n',
    );
    expect((await run('config', 'apply', file)).code).toBe(0);
    applied = (await versions())[0] ?? '';
  }, testMs);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(
    'stays in force when a client asks, and is what the run has',
    async () => {
      const { code, output } = await run('ask', 'What time is it?', '--group', 'work');
      expect(output).toMatch(/offered +clock\n/);
      expect(code).toBe(0);
      expect(await versions()).toEqual([applied]);
    },
    testMs,
  );

  it(
    'stays in force under `start`, which says so and leaves the sample out',
    async () => {
      const services = sluice(['start'], variables);
      await services.says('Ctrl-C stops it.');
      // As it is printed: with the local secret, which lists need without an identity.
      const curl = /^ {2}(curl http\S+\/v1\/runs -H .*)$/m.exec(services.said())?.[1] ?? 'no curl is printed';
      expect(JSON.parse(execFileSync('sh', ['-c', `${curl} -sS`], { encoding: 'utf8' }))).toMatchObject({ runs: [{}] });
      services.process.kill('SIGTERM');
      const { output } = await services.ended;
      expect(output).toMatch(
        /In force is configuration c-[0-9a-f]{16} from .*own\.yaml\. It stays, so there is no sample\./,
      );
      expect(output).not.toContain('Switzerland');
      expect(await versions()).toEqual([applied]);
    },
    testMs,
  );

  it(
    'keeps `start --once` from running the sample',
    async () => {
      const { code, errors } = await run('start', '--once');
      expect([code, errors]).toEqual([
        1,
        expect.stringMatching(/from .*own\.yaml is in force .* Set SLUICE_DATA to another folder\./),
      ]);
      expect(await versions()).toEqual([applied]);
    },
    testMs,
  );

  it(
    'stays in force under `load`',
    async () => {
      await run('load', '--rate', '1', '--for', '1s', '--json');
      expect(await versions()).toEqual([applied]);
    },
    testMs,
  );

  it(
    'stays in force behind an unreadable record',
    async () => {
      const log = await openLogFile(readEnvironment(variables), createLog('silent'));
      await log.appendRaw('agent.config', 'config', Buffer.from('{"nonsense":1}'));
      await log.close();
      const { code, errors } = await run('ask', 'What time is it?', '--group', 'work');
      expect([code, errors]).toEqual([0, expect.stringContaining('is ignored; the current one stays')]);
      expect(await versions()).toEqual([applied]);
    },
    testMs,
  );
});

it(
  'the sample and the load give way to each other',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-applied-'));
    const variables = { SLUICE_DATA: folder };
    try {
      expect((await sluice(['load', '--rate', '5', '--for', '1s', '--json'], variables).ended).code).toBe(0);
      expect((await sluice(['start', '--once'], variables).ended).code).toBe(0);
      const { output } = await sluice(['config', 'list'], variables).ended;
      expect(output).toMatch(/examples\/load\/sluice\.yaml\n.*examples\/countries\/sluice\.yaml in force\n$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  testMs,
);
