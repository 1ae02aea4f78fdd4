import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { isAtLeast, leastNode, leastNodeOfClone } from '../../bin/node-version.mjs';

const root = join(import.meta.dirname, '../..');

/** Where `npm run pack` puts what the package starts with. */
const packed = mkdtempSync(join(tmpdir(), 'sluice-packed-'));
for (const file of ['packages/sluice/sluice.mjs', 'bin/node-version.mjs'])
  copyFileSync(join(root, file), join(packed, file.split('/').at(-1) ?? ''));
afterAll(() => rmSync(packed, { recursive: true }));

/** Runs a program on a Node that gives this as its version, and that has no node:sqlite, as one that is too old. */
function runOn(version: string, ...program: readonly string[]): readonly unknown[] {
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
  const flags = ['--no-experimental-sqlite', `--import=data:text/javascript,${encodeURIComponent(pretend)}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, ...program], {
    cwd: root,
    encoding: 'utf8',
    env: {},
  });
  return [status, stdout, stderr];
}

describe('a Node that is too old', () => {
  it.each([
    ['the package', [join(packed, 'sluice.mjs'), 'start'], '22.15.1', leastNode, /: install Node 24, from https.+\.$/],
    ['the build', ['dist/main.js', 'status'], '20.20.2', leastNode, /run `node \S+\/bin\/sluice.mjs` instead.+\.$/],
    ['a clone', ['bin/sluice.mjs', 'start'], '18.19.0', leastNodeOfClone, /: install Node 24, from https.+\.$/],
    ['npm in a clone', ['bin/npm.mjs', 'start'], '12.22.12', leastNodeOfClone, /: install Node 24, from https.+\.$/],
  ])('is named by %s in a sentence', (_, program, version, least, remedy) => {
    const [status, output, errors] = runOn(version, ...program);
    const needed = `sluice: Sluice needs Node ${least} or later, and this is ${version}: `;
    expect([status, output, errors]).toEqual([1, '', expect.stringContaining(needed)]);
    expect(String(errors).trimEnd()).toMatch(remedy);
  });

  it('is not one that is just new enough', () => {
    expect(runOn(`${leastNode}.0`, 'dist/main.js', 'version')).toEqual([0, expect.stringMatching(/^sluice \d/), '']);
  });

  it('is found by number, not by letter', () => {
    expect(['22.16.0', '22.20.1', '23.0.0', '100.0.0'].filter((version) => !isAtLeast(version, '22.16'))).toEqual([]);
    expect(['9.11.2', '20.20.2', '21.99.0', '22.2.0', '22.15.9'].filter((one) => isAtLeast(one, '22.16'))).toEqual([]);
    expect([isAtLeast('20.0.0', '20'), isAtLeast('19.9.0', '20')]).toEqual([true, false]);
  });
});

it.each([
  ['package.json', leastNodeOfClone],
  ['packages/sluice/package.json', leastNode],
])('%s gives npm the same version', (file, least) => {
  const { engines } = JSON.parse(readFileSync(join(root, file), 'utf8')) as { readonly engines: object };
  expect(engines).toEqual({ node: `>=${least}` });
});
