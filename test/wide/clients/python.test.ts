import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { finish } from '../../cluster/outside-tools.js';
import { command, pythonContract, test } from '../../clients/python-contract.js';
import { projectRoot } from '../../harness/configurations.js';

pythonContract('sync');

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
});
