import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from './harness/configurations.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-limit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const archive = pathToFileURL(join(projectRoot, 'libs/archive/src/index.ts')).href;
const hooks = join(projectRoot, 'test/process/typescript.mjs');
const sources = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning', `--import=${hooks}`];
/** An export of one record with so much in it that does not compress. */
const exporting = `
  import { createHash } from 'node:crypto';
  import { statSync } from 'node:fs';
  import { writeArchive } from ${JSON.stringify(archive)};
  const [file, given] = process.argv.slice(1);
  const text = (length) => {
    let made = '';
    for (let n = 0; made.length < length; n++) made += createHash('sha256').update(String(n)).digest('base64');
    return made.slice(0, length);
  };
  async function* records(length) {
    const record = { version: 'c-1', configuration: text(length), source: 'test', compiledAt: 0 };
    yield { topic: 'agent.config', partition: 0, offset: 0, timestamp: 0, key: 'config', headers: {}, record };
  }
  const selection = { from: null, to: null, session: null, tenant: null, topics: null };
  const written = (to, length) =>
    writeArchive(to, { selection, createdAt: 0, records: records(length), undecodable: () => 0 });
`;
/** The file sizes that a shell can allow are these blocks. */
const block = 512;

async function run(script: string, blocks: string, ...args: readonly string[]): Promise<string> {
  const command = `ulimit -f ${blocks} && exec "$@"`;
  const program = [process.execPath, ...sources, '--input-type=module', '-e', exporting + script, ...args];
  return (await promisify(execFile)('sh', ['-c', command, 'sh', ...program])).stdout;
}

describe('an export into a file that takes less than all of it', () => {
  it('does not get its name, also where only a part of the last piece did not fit', async () => {
    // With this length the limit falls within the trailer: what is written last is cut short and nothing is written
    // after it.
    const found = await run(
      `for (let length = 10_000; ; length += 50) {
         const to = file + '.' + length;
         const { bytes } = await written(to, length);
         const { size } = statSync(to);
         const limit = size - (size % ${block});
         if (limit <= bytes || limit === size) continue;
         console.log(JSON.stringify({ length, blocks: limit / ${block} }));
         break;
       }`,
      'unlimited',
      join(folder, 'tried'),
    );
    const { length, blocks } = JSON.parse(found) as { length: number; blocks: number };
    const file = join(folder, 'limited.sluice');
    const said = await run(
      `await written(file, Number(given)).then(() => console.log('written'), ({ message }) => console.log(message));`,
      String(blocks),
      file,
      String(length),
    );
    expect(said).toMatch(/^The export .*limited\.sluice cannot be written: .*EFBIG/);
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});
