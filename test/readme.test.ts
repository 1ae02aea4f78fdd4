import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from './harness/configurations.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a line as a reader would type it; ends it with Ctrl-C once it says so and what is done meanwhile is done. */
function shell(
  line: string,
  until?: string,
  meanwhile: (output: string) => Promise<void> = () => Promise.resolve(),
): Promise<{ end: number | string | null; output: string }> {
  const child = spawn('sh', ['-c', line], {
    cwd: projectRoot,
    detached: true,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      NO_COLOR: '1',
      SLUICE_DATA: folder,
      SLUICE_PORT: '0',
    },
  });
  let output = '';
  let said = false;
  const stop = (): boolean => process.kill(-(child.pid as number), 'SIGINT');
  const take = (piece: Buffer): void => {
    output += piece.toString();
    if (said || until === undefined || !output.includes(until)) return;
    said = true;
    void meanwhile(output).finally(stop);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ end: code ?? signal, output })));
}

const lines = [...readFileSync(join(projectRoot, 'README.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(
  (block) => (block[1] ?? '').split('\n').filter((line) => line !== ''),
);
const curl = lines.find((line) => line.startsWith('curl ')) ?? 'no curl';

/** Lines of other pages that are tried here too, by the page that has them. */
const elsewhere: Readonly<Record<string, string>> = {
  'node examples/discovery/run.mjs': 'docs/discovery.md',
};

/** What each line must show; null where another test runs the line. */
const expected: Readonly<Record<string, { readonly shows: string; readonly until?: string } | null>> = {
  'npm start': { shows: 'The answer is right', until: 'Ctrl-C stops it.' },
  'npx sluice ask "What is the capital of Japan?" --group read-only': { shows: 'Tokyo' },
  'npx sluice tail --from start --once': { shows: 'answer: ' },
  'npx sluice replay': { shows: '0 different; 0 not replayable' },
  'npx sluice audit verify': { shows: 'Nothing was changed, dropped, inserted or moved.' },
  [`echo '{"question":"?","group":["knowledge"],"state":"analysis"}' | npx sluice explain --config examples/spec-5.1.yaml`]:
    { shows: '"eligible":["graph-update"]' },
  [`npx sluice call get_current_time '{"timezone":"Asia/Tokyo"}' --group basic`]: { shows: 'Asia/Tokyo' },
  'node examples/discovery/run.mjs': { shows: 'tools that the model was shown: 60, 60' },
  // It asks what `npm start` began; below.
  [curl]: null,
  // my.yaml is the reader's own copy of the sample.
  'SLUICE_CONFIG=my.yaml npm start': { shows: 'It keeps serving', until: 'Ctrl-C stops it.' },
  // This is npm test, and .ci/run lints.
  'npm test': null,
  'npm run lint': null,
};

describe('the README', () => {
  it('has no command that is not tried', () =>
    expect([...new Set([...lines, ...Object.keys(elsewhere)])].sort()).toEqual(Object.keys(expected).sort()));

  it.each(Object.entries(elsewhere))('and %s stands in %s', (line, page) =>
    expect(readFileSync(join(projectRoot, page), 'utf8')).toContain(`\`\`\`sh\n${line}\n\`\`\``),
  );

  for (const line of [...lines, ...Object.keys(elsewhere)]) {
    const check = expected[line];
    if (check === null || check === undefined) continue;
    it(`works as written: ${line}`, async () => {
      const { end, output } = await shell(line.replace('my.yaml', 'examples/countries/sluice.yaml'), check.until);
      expect(output).toContain(check.shows);
      expect(check.until === undefined ? [0] : [0, 130, 'SIGINT']).toContain(end);
      if (check.until !== undefined) expect(output).toContain('Stopping');
    });
  }

  it(`works as written, from each client: ${curl}`, async () => {
    let answer = '';
    await shell('npm start', 'Ctrl-C stops it.', async (output) => {
      const url = /http (http:\/\/\S+\/v1\/runs)/.exec(output)?.[1] ?? '';
      const headers = [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]);
      const body = /-d '([^']+)'/.exec(curl)?.[1] ?? '';
      answer = await (await fetch(url, { method: 'POST', headers: Object.fromEntries(headers), body })).text();
    });
    expect(curl).toMatch(/^curl -N http:\/\/127\.0\.0\.1:8091\/v1\/runs /);
    expect(answer).toContain('Tokyo');
  });
});
