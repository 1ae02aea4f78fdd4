import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sluice } from '../harness/program.js';

describe('sluice load on the embedded log', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-load-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('runs the services, sends what the mix says, ends by itself and sums up', async () => {
    const { code, output, errors } = await sluice(['load', '--rate', '40', '--for', '5s', '--json'], {
      SLUICE_DATA: join(folder, 'one'),
    }).ended;
    const result = JSON.parse(output) as Record<string, unknown> & { kinds: object; outcomes: object };
    expect([errors, result['unexpected'], result['unanswered'], code]).toEqual(['', 0, 0, 0]);
    expect([result['sent'], result['ended']]).toEqual([200, 200]);
    expect(Object.keys(result.outcomes).sort()).toEqual(['answer', 'authz_denied', 'invalid_request']);
    expect(Object.keys(result.kinds).length).toBeGreaterThan(12);
    // What makes dashboards worth looking at: calls that go well, that fail, that are refused, and approvals of both
    // kinds.
    expect(Object.keys(result['tool_calls'] as object)).toEqual(
      expect.arrayContaining(['ok', 'execution', 'validation', 'approval_refused']),
    );
    const lines = readFileSync(join(folder, 'one/sluice.log'), 'utf8').trim().split('\n');
    const runs = lines.filter((line) => line.includes('execution_time'));
    expect(runs.length).toBe(200);
    const states = new Set(runs.flatMap((line) => line.match(/"to":"(\w+)"/g) ?? []));
    expect([...states].sort()).toEqual(['"to":"checked"', '"to":"priced"', '"to":"sent"', '"to":"undefined"']);
  });

  it('says how it goes in plain lines where no terminal is attached, and sums up when it is interrupted', async () => {
    const program = sluice(['load', '--rate', '5', '--for', '1h'], { SLUICE_DATA: join(folder, 'two') });
    await program.says(/^ +\d+ s {2}sent \d+ .*p50 .*p99/m);
    program.process.kill('SIGINT');
    const { code, output } = await program.ended;
    expect(code).toBe(130);
    expect(output).toMatch(/\d+ requests in \d+ s/);
    expect(output).not.toContain('\u001b');
  });

  it.each([
    [['--rate', 'fast'], '--rate is "fast"; it must be a number above 0'],
    [['--rate', '0'], '--rate is "0"'],
    [['--for', 'ever'], '--for is "ever"; it must be a time such as 30s, 5m or 2h.'],
    [['--sessions', '0'], '--sessions is "0"; it must be a whole number from 1.'],
    [['--seed', '-1'], 'seed'],
    [['--mix', 'nowhere.yaml'], 'The mix nowhere.yaml cannot be read'],
    [['--speed', '3'], 'load has no option --speed.'],
  ])('refuses %j with a sentence', async (args, sentence) => {
    const { code, errors } = await sluice(['load', ...args], { SLUICE_DATA: join(folder, 'none') }).ended;
    expect(code).toBe(1);
    expect(errors).toContain(sentence);
  });
});
