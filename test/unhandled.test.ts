import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { sluice } from './harness/program.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-unhandled-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Loaded by Node into the serving process, as a library is: what it throws, no code of Sluice’s handles. */
function library(name: string, code: string): Record<string, string> {
  const file = join(home, `${name}.mjs`);
  writeFileSync(file, code);
  const config = join(home, 'sluice.yaml');
  writeFileSync(config, 'tool: { now: { type: get_current_time } }\npolicy: { allowed_tools: [now] }\n');
  return { NODE_OPTIONS: `--import=${file}`, SLUICE_DATA: join(home, name), SLUICE_CONFIG: config };
}

describe('an error that no code handles', () => {
  it('is named and counted, and the services go on', async () => {
    const variables = library(
      'stray',
      `if (process.argv[2] === 'start') setTimeout(() => {
         setTimeout(() => { throw new Error('stray-exception'); });
         void Promise.reject(new Error('stray-rejection'));
       }, 8000).unref();`,
    );
    const serving = sluice(['start'], variables);
    await serving.says('It keeps serving');
    const [, metrics = ''] = /metrics (http:\S+)/.exec(serving.said()) ?? [];
    let text = '';
    const counted = ['rejection', 'exception'].map((kind) => `sluice_unhandled_errors_total{kind="${kind}"} 1`);
    for (let waited = 0; !counted.every((line) => text.includes(line)) && waited < 200; waited++) {
      await new Promise((go) => setTimeout(go, 100));
      text = await (await fetch(metrics)).text();
    }
    for (const line of counted) expect(text).toContain(line);
    const asked = await sluice(['ask', 'What time is it?'], { ...variables, NODE_OPTIONS: '' }).ended;
    expect([asked.code, asked.output]).toEqual([0, asked.output]);
    serving.process.kill('SIGTERM');
    expect((await serving.ended).code).toBe(0);
  });

  it('ends the process in order where it comes again and again', async () => {
    const variables = library(
      'flood',
      `if (process.argv[2] === 'serve') setInterval(() => { throw new Error('again'); }, 50).unref();`,
    );
    const applied = await sluice(['config', 'apply', variables['SLUICE_CONFIG'] ?? ''], {
      ...variables,
      NODE_OPTIONS: '',
    }).ended;
    expect(applied.code).toBe(0);
    const { code, output } = await sluice(['serve'], variables).ended;
    expect(code).toBe(1);
    expect(output).toContain('an error that no code handled; the process goes on');
    expect(output).toContain('More than 20 errors in a minute were not handled, the last one: again');
  });

  it('ends the process in order where it is one of the bus', async () => {
    const variables = library(
      'bus',
      `if (process.argv[2] === 'serve') setTimeout(() => {
         const error = new Error('lost');
         error.stack = 'Error: lost\\n    at Transactions.run (/opt/sluice/dist/bus-4fQ_x9-a.js:1:1)';
         void Promise.reject(error);
       }, 8000).unref();`,
    );
    expect(
      (await sluice(['config', 'apply', variables['SLUICE_CONFIG'] ?? ''], { ...variables, NODE_OPTIONS: '' }).ended)
        .code,
    ).toBe(0);
    const { code, output } = await sluice(['serve'], variables).ended;
    expect([code, output]).toEqual([1, expect.stringContaining('An error in the bus was not handled: lost')]);
  });
});
