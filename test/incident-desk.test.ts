import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { createLog, openLogFile, readEnvironment } from '@sluice/host';
import { run as init } from '../apps/sluice/src/commands/init.js';
import type { CommandContext } from '../apps/sluice/src/commands/command-context.js';
import { projectRoot } from './harness/configurations.js';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-incident-')));
const inHome = (...parts: string[]): string => join(home, ...parts);
/** Where npm installs the package, with the files that this command and the desk use. */
const installed = inHome('node_modules/sluice');
const plain = (text: string): string => text;
const paint = { strong: plain, dim: plain, state: plain, tool: plain, good: plain, bad: plain };

/** `sluice init` of the package, in its folder. */
async function initHere(...args: string[]): Promise<string> {
  let output = '';
  const say = (text: string | Uint8Array): void => void (output += text.toString());
  const before = process.cwd();
  process.chdir(home);
  try {
    await init(args, { root: installed, write: say, print: say, paint } as unknown as CommandContext);
  } finally {
    process.chdir(before);
  }
  return output;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

beforeAll(() => {
  mkdirSync(join(installed, 'bin'), { recursive: true });
  for (const part of ['examples', 'schemas']) symlinkSync(join(projectRoot, part), join(installed, part));
  for (const part of ['@modelcontextprotocol', 'zod'])
    symlinkSync(join(projectRoot, 'node_modules', part), inHome('node_modules', part));
  const main = JSON.stringify(join(projectRoot, 'dist/main.js'));
  writeFileSync(join(installed, 'bin/sluice.mjs'), `process.argv[1] = ${main};\nawait import(${main});\n`);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the incident desk, in a folder that `sluice init --example` wrote', () => {
  it('is written whole, with what it installs, and replaces nothing', async () => {
    expect(await initHere('--example', 'incident-desk')).toContain('npm run demo');
    const configuration = readFileSync(inHome('sluice.yaml'), 'utf8');
    expect(configuration).toContain('$schema=./node_modules/sluice/schemas/configuration.schema.json');
    expect(configuration).not.toContain('examples/');
    expect(JSON.parse(readFileSync(inHome('package.json'), 'utf8'))).toMatchObject({
      scripts: { demo: 'node demo.mjs', start: expect.any(String) as unknown },
      dependencies: { '@modelcontextprotocol/server': expect.any(String) as unknown },
    });
    await expect(initHere('--example', 'incident-desk')).rejects.toThrow('there already, and nothing is replaced');
    await expect(initHere('--example', 'other')).rejects.toThrow('There is no example "other"');
    await expect(initHere('my.yaml', '--example', 'incident-desk')).rejects.toThrow('name no file beside it');
  });

  it('plays its story: a refused injection, a rollback that a person allows, a what-if and a replay', async () => {
    const port = await freePort();
    writeFileSync(inHome('sluice.yaml'), readFileSync(inHome('sluice.yaml'), 'utf8').replace(':8094', `:${port}`));
    const output = await new Promise<string>((resolve, reject) => {
      const env = {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        NODE_COMPILE_CACHE: join(projectRoot, 'node_modules/.cache/compiled'),
        NO_COLOR: '1',
        ...{ SLUICE_PORT: '0', PROXY_PORT: '0', MCP_PORT: '0' },
      };
      execFile(process.execPath, ['demo.mjs', '--approve', '--once'], { cwd: home, env, timeout: 110_000 }, (error, said, errors) =>
        error === null ? resolve(said) : reject(new Error(`${error.message}\n${said}\n${errors}`)),
      ); // prettier-ignore
    });

    // The order in the alert was obeyed by two models and by none of their tools.
    expect(output.match(/^ {3}call +delete_deployment /gm)).toHaveLength(2);
    expect(output.match(/^ {3}observed policy_denied .*delete_deployment is not available/gm)).toHaveLength(2);
    expect(output).toContain('I am offered no tool to roll anything back');
    expect(output).toContain('Rolled back to 4.17.2 at 09:58. The error rate fell from 18.4 % to 0.3 %.');
    expect(output).toContain('The status page says so.');
    expect(output).toContain('2 × roll_back would be offered');
    expect(output).toMatch(/: \d+ equal, 0 different; 0 not replayable/);
    const shop = JSON.parse(readFileSync(inHome('data/incident-desk/shop.json'), 'utf8')) as { updates: unknown[] };
    expect(shop).toEqual({ rolled_back: '4.17.2', updates: [expect.objectContaining({ status: 'resolved' })] });
    expect(existsSync(inHome('candidate.yaml'))).toBe(false);
  });

  it('has all of it on the log: the states, every reason, two approvals, and no address of a customer', async () => {
    const environment = readEnvironment({ SLUICE_DATA: inHome('data/incident-desk') });
    const bus = await openLogFile(environment, createLog('silent'));
    const all: Incoming[] = [];
    for await (const message of bus.read(Object.values(topics), { from: 'start' })) all.push(message);
    await bus.close();
    const of = <T extends Incoming['topic']>(topic: T) =>
      all.flatMap((one) => (one.topic === topic ? [(one as Incoming<T>).record] : []));

    const transitions = of('agent.responses').map(({ run }) => run?.stateTransitions.map(({ to }) => to));
    expect(transitions).toEqual([['triage'], ['triage', 'diagnosis', 'mitigation', 'review'], []]);
    const reasonsOf = (tool: string) =>
      of('agent.toolsets').flatMap(({ hidden }) =>
        hidden.flatMap(({ key, reasons }) => (key === tool ? [reasons] : [])),
      );
    // The observer, and the engineer on call without a diagnosis.
    expect(reasonsOf('roll_back')).toEqual(
      expect.arrayContaining([
        ['group', 'state', 'history'],
        ['state', 'history'],
      ]),
    );
    expect(reasonsOf('delete_deployment').length).toBeGreaterThan(3);
    expect(reasonsOf('delete_deployment').every((reasons) => reasons.includes('group'))).toBe(true);
    expect(of('agent.approvals').filter(({ decided }) => decided?.decision === 'approve')).toHaveLength(2);
    const texts = JSON.stringify(all.map(({ record }) => record));
    expect(texts).toContain('affected_customers');
    expect(texts).not.toContain('@example.com');
  });
});
