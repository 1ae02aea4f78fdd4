import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { finish } from '../cluster/outside-tools.js';
import { projectRoot } from '../harness/configurations.js';
import { startFixture } from './fixture.js';
import { command, pythonContract, test } from './python-contract.js';

// The blocking half is made from the other one (packages/generate): some cases show it here, and
// `npm run test:wide -- clients` all of them.
pythonContract('async');
pythonContract('sync', 5);

describe('the Python package', () => {
  const folder = join(projectRoot, 'packages/client-python');

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
