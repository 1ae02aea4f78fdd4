import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../harness/configurations.js';
import { startFixture } from './fixture.js';
import type { Fixture } from './fixture.js';

const run = promisify(execFile);
const source = join(projectRoot, 'packages/client');
const tsc = join(projectRoot, 'node_modules/typescript/bin/tsc');
const blocks = [...readFileSync(join(source, 'README.md'), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map(
  ([, block = '']) => block,
);

/** A program that type-checks in a browser’s project: no types of Node, no other package. */
const inBrowser = `
import { Sluice, NotFoundError } from '@sluice/client';
import type { RunEvent, EndedRun } from '@sluice/client';
const sluice = new Sluice({ url: location.origin, token: async () => 'x' });
export async function show(question: string): Promise<string> {
  for await (const event of sluice.runs.stream({ question, group: null })) if (event.type === 'end') return event.answer ?? '';
  return '';
}
export const isMissing = (error: unknown): boolean => error instanceof NotFoundError && error.code === 'not_found';
export const kindOf = (event: RunEvent): RunEvent['type'] => event.type;
export const answerOf = ({ answer }: EndedRun): string | null => answer;
// @ts-expect-error: a misspelt field of a request is seen by the compiler.
void sluice.runs.create({ question: '', groups: [] });
`;

describe('the package @sluice/client', () => {
  let folder: string;
  let fixture: Fixture;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source });
    // What scripts print stands before the JSON.
    const [{ filename, files }] = JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1)) as [
      { readonly filename: string; readonly files: readonly { readonly path: string }[] },
    ];
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['README.md', 'dist/index.js', 'dist/index.d.ts', 'dist/kafka/index.js'])); // prettier-ignore
    expect(files.filter(({ path }) => path.startsWith('src/'))).toEqual([]);
    const installed = join(folder, 'node_modules/@sluice/client');
    mkdirSync(installed, { recursive: true });
    await run('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', installed]);
    for (const peer of ['kafkajs', '@kafkajs', '@types'])
      symlinkSync(join(projectRoot, 'node_modules', peer), join(folder, 'node_modules', peer));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    fixture = await startFixture();
  });
  afterAll(async () => {
    await fixture.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const execute = async (program: string): Promise<string> => {
    writeFileSync(join(folder, 'program.js'), program);
    const env = {
      PATH: process.env['PATH'] ?? '',
      SLUICE_URL: fixture.proxy.url,
      SLUICE_TOKEN: await fixture.token('ann'),
    };
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, env });
    return stdout;
  };

  it('runs what its README shows', async () => {
    const [ask = '', watch = '', approvals = '', lists = ''] = blocks;
    expect(await execute(ask)).toBe('done\n');
    expect(await execute(watch.replace('What is the capital of Japan?', 'Look'))).toMatch(
      /^calls core__knowledge-query \{.*\}\n-> .*Found\.\n$/s,
    );
    expect(await execute(approvals)).toBe('');
    expect(await execute(lists)).toMatch(/What is the capital of Japan\?\n\[.*'admin'.*\]\n$/s);
  });

  it.each([
    ['a browser’s project', ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'], [], inBrowser],
    [
      'a project of Node',
      ['es2023', 'dom'],
      ['node'],
      `import { SluiceBus } from '@sluice/client/kafka';\nexport type Bus = SluiceBus;\n`,
    ],
  ])('type-checks in %s', async (_, lib, types, program) => {
    const compilerOptions = { module: 'nodenext', target: 'es2022', lib, types, strict: true, exactOptionalPropertyTypes: true, noEmit: true }; // prettier-ignore
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    writeFileSync(join(folder, 'program.ts'), program);
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });
});
