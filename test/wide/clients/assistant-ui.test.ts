import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { startFixture } from '../../clients/fixture.js';
import { finish } from '../../cluster/outside-tools.js';
import { projectRoot } from '../../harness/configurations.js';

const source = join(projectRoot, 'examples/assistant-ui');
const npm = ['ci', '--no-audit', '--no-fund', '--prefer-offline'];
const folder = mkdtempSync(join(tmpdir(), 'sluice-assistant-ui-'));
cpSync(source, folder, { recursive: true, filter: (path) => !/\/(node_modules|dist)$/.test(path) });
const inFolder = (...words: readonly string[]) =>
  finish('sh', ['-c', 'cd "$0" && exec npm "$@"', folder, ...words], process.env, 400_000);
const installed = await inFolder(...npm);

describe('the page of the example: a renderer by the name of a tool (S-20)', () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const title = 'is built from what its README says';
  const build = async (): Promise<void> => {
    const { code, output, errors } = await inFolder('run', 'build');
    expect([code, code === 0 ? '' : output + errors]).toEqual([0, '']);
    const [script = ''] = readdirSync(join(folder, 'dist/assets')).filter((file) => file.endsWith('.js'));
    expect(readFileSync(join(folder, 'dist/index.html'), 'utf8')).toContain(script);
    expect(readFileSync(join(folder, 'dist/assets', script), 'utf8')).toContain('text/event-stream');
  };
  const shown = 'shows a run that is asked for in it, a tool’s call by the renderer of its name';
  const show = async (): Promise<void> => {
    const fixture = await startFixture();
    try {
      expect(await inFolder('install', '--no-save', '--no-audit', '--no-fund', 'happy-dom@21.0.4')).toMatchObject({ code: 0 }); // prettier-ignore
      const env = {
        PATH: process.env['PATH'],
        VITE_SLUICE_URL: fixture.proxy.url,
        VITE_SLUICE_TOKEN: await fixture.token('ann'),
        VITE_SLUICE_GROUP: '*',
      };
      const script = join(import.meta.dirname, '../../clients/show-page.mjs');
      const words = ['-c', 'cd "$0" && exec "$@"', folder, process.execPath, script, 'Look', 'Found.'];
      const { code, output, errors } = await finish('sh', words, env, 120_000);
      expect([code, code === 0 ? '' : errors]).toEqual([0, '']);
      expect(output).toMatch(
        /Look.*Iteration 1, state undefined.*Query: \d+ rows?.*Iteration 2, state analysis.*Found\./s,
      );
    } finally {
      await fixture.close();
    }
  };
  // Without a network its packages are not here.
  for (const [behaviour, body] of [
    [title, build],
    [shown, show],
  ] as const)
    if (installed.code === 0) it(behaviour, body, 480_000);
    else it.skip(`${behaviour} (skipped: its packages cannot be installed)`, body);
});
