import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { finish } from '../cluster/outside-tools.js';
import { projectRoot } from '../harness/configurations.js';
import { cases, perform } from './contract.js';
import { expectTextOnce } from './cut-in-a-word.js';
import type { Driver } from './driver.js';
import { startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';
import { pythonDriver, pythonWithClient } from './python-driver.js';

const python = await pythonWithClient('check,kafka');

/** Skipped only where there is no Python to run it, which the title then says. */
function test(title: string, body: () => Promise<void>): void {
  if ('missing' in python) it.skip(`${title} (skipped: ${python.missing})`, body);
  else it(title, body);
}
const command = 'command' in python ? python.command : '';

describe.each(['sync', 'async'] as const)('the Python client, %s', (way) => {
  let fixture: Fixture;
  let driver: Driver;
  beforeAll(async () => {
    if (command === '') return;
    fixture = await startFixture();
    driver = pythonDriver(command, way);
  });
  afterAll(async () => {
    await driver?.close();
    await fixture?.close();
  });

  test('a text that is cut in a word goes on behind it', () => expectTextOnce(driver));
  for (const [n, one] of cases.entries()) test(one.name, () => perform(one, driver, fixture, `${way}-${n}`));
});

describe('the Python package', () => {
  const folder = join(projectRoot, 'packages/client-python');
  const inFolder = (...words: readonly string[]) =>
    finish('sh', ['-c', 'cd "$0" && exec "$@"', folder, ...words], process.env, 200_000);

  test('has types that mypy accepts, and the form that ruff gives', async () => {
    for (const words of [
      ['mypy'],
      ['ruff', 'check', 'src', '../../test/clients'],
      ['ruff', 'format', '--check', 'src'],
    ]) {
      const { code, output, errors } = await inFolder(command, '-m', ...words);
      expect([words.join(' '), code, code === 0 ? '' : output + errors]).toEqual([words.join(' '), 0, '']);
    }
  });

  test('runs what its README shows', async () => {
    const fixture = await startFixture();
    const blocks = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/```python\n([\s\S]*?)```/g)].map(
      ([, block = '']) => block,
    );
    const execute = async (program: string): Promise<string> => {
      const env = {
        PATH: process.env['PATH'],
        SLUICE_URL: fixture.proxy.url,
        SLUICE_TOKEN: await fixture.token('ann'),
      };
      const { code, output, errors } = await finish(command, ['-c', program], env);
      expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
      return output;
    };
    try {
      const [ask = '', watch = '', approvals = '', lists = ''] = blocks;
      expect(await execute(ask)).toBe('done\n');
      expect(await execute(watch.replace('What is the capital of Japan?', 'Look'))).toMatch(
        /^calls core__knowledge-query \{.*\}\n-> .*Found\.\n$/s,
      );
      expect(await execute(approvals)).toBe('');
      expect(await execute(lists)).toMatch(/What is the capital of Japan\?\n\[.*'admin'.*\]\n$/s);
    } finally {
      await fixture.close();
    }
  });
});
