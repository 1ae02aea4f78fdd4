import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../../harness/configurations.js';
import { freePort } from '../../infra/ports.ts';

/** `NODE_IMAGE` names another base, as a machine without a registry wants it. */
const base = process.env['NODE_IMAGE'] ?? /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile())?.[1] ?? '';
const name = `sluice-test-${randomBytes(4).toString('hex')}`;
const image = `${name}:local`;
const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string };

const mostMegabytes = 60;
const seconds = 1_000;
const minutes = 60 * seconds;
const question = 'What is the capital of Japan?';

function dockerfile(): string {
  return readFileSync(join(projectRoot, 'ops/Dockerfile'), 'utf8');
}

const execute = promisify(execFile);
async function run(program: string, ...args: string[]): Promise<string> {
  const options = { cwd: projectRoot, maxBuffer: 64 << 20, env: { ...process.env, NODE_IMAGE: base } };
  return (await execute(program, args, options)).stdout;
}
const docker = (...args: string[]): Promise<string> => run('docker', ...args);

/** What a shell in the image prints, run by root, who may look everywhere. */
const inside = (of: string, script: string): Promise<string> =>
  docker('run', '--rm', '--network', 'none', '--user', '0', '--entrypoint', 'sh', of, '-c', script);
const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

interface Inspected {
  readonly Size: number;
  readonly Config: {
    readonly User: string;
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
    readonly Volumes?: object | null;
    readonly ExposedPorts: object;
  };
}

async function inspect(of: string): Promise<Inspected> {
  const [found] = JSON.parse(await docker('image', 'inspect', of)) as [Inspected];
  return found;
}

async function status(container: string): Promise<string> {
  return (await docker('inspect', '-f', '{{.State.Status}} {{.State.Health.Status}}', container)).trim();
}

async function healthy(container: string): Promise<void> {
  for (const until = Date.now() + 3 * minutes; (await status(container)) !== 'running healthy';) {
    if (Date.now() > until) throw new Error(`${await status(container)}: ${await docker('logs', container)}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

beforeAll(async () => {
  const began = performance.now();
  await run(process.execPath, join(projectRoot, 'bin/image.mjs'), '--tag', image);
  console.log(`Packed and built in ${((performance.now() - began) / seconds).toFixed(1)} s`);
}, 15 * minutes);
afterAll(async () => {
  await docker('image', 'rm', image);
}, minutes);

describe('what the image holds', () => {
  it('is a fixed list: beside the base, the package and the folders of volumes', async () => {
    const everywhere =
      'find / -xdev -path /proc -prune -o -path /sys -prune -o -path /dev -prune -o -path /app -prune -o -print';
    const [before, after] = await Promise.all(
      [base, image].map(async (of) => new Set(lines(await inside(of, everywhere)))),
    );
    const added = [...(after ?? [])].filter((path) => before?.has(path) !== true && !/^\/tmp\//.test(path));
    const app = lines(
      await inside(image, 'find /app -maxdepth 2 -not -path "/app/d[io]*/*" -not -path "/app/schemas/*"'),
    );
    const listed = lines(readFileSync(join(import.meta.dirname, 'contents.txt'), 'utf8')).filter((line) =>
      line.startsWith('/'),
    );
    expect([...added, ...app].sort()).toEqual([...listed].sort());
    // What went is npm and what belongs to it.
    const gone = [...(before ?? [])].filter((path) => after?.has(path) !== true);
    const ofNpm =
      /^\/(usr\/local\/(lib\/node_modules|bin\/(npm|npx|corepack|yarn|yarnpkg)$)|opt\/yarn|root\/\.npm|tmp\/)/;
    expect(gone.filter((path) => !ofNpm.test(path))).toEqual([]);
    expect(gone).toContain('/usr/local/bin/npm');
  });

  it('has no file that runs as another user, no tests, no sources, no keys', async () => {
    expect(lines(await inside(image, 'find / -xdev -type f -perm /6000'))).toEqual([]);
    const files = lines(await inside(image, 'find /app -type f'));
    expect(files.length).toBeGreaterThan(200);
    const sources = files.filter((file) => /\.([cm]?tsx?|map)$/.test(file) && !file.startsWith('/app/examples/'));
    expect(sources).toEqual([]);
    expect(
      files.filter(
        (file) =>
          /\.test\.|__tests__|keys\.json|\.env$|\.git\b|setup\.mjs/.test(file) && !file.startsWith('/app/examples/'),
      ),
    ).toEqual([]);
    const packages = JSON.parse(await inside(image, 'cat /app/package.json')) as { devDependencies?: object };
    expect(packages.devDependencies).toBeUndefined();
  });

  it('adds little to its base, and says what it is', async () => {
    const [ours, node] = await Promise.all([inspect(image), inspect(base)]);
    const megabytes = (ours.Size - node.Size) / 1e6;
    console.log(`The image adds ${megabytes.toFixed(1)} MB to its base`);
    expect(megabytes).toBeLessThan(mostMegabytes);
    const { User, Entrypoint, Cmd, Volumes, ExposedPorts, Labels } = ours.Config;
    expect([User, Entrypoint, Cmd, Volumes ?? null]).toEqual(['1000:1000', ['sluice'], ['start'], null]);
    expect(Object.keys(ExposedPorts)).toEqual(['8090/tcp', '8091/tcp', '8092/tcp', '8093/tcp']);
    expect(Labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.revision': expect.stringMatching(/^([0-9a-f]{40})?$/),
    });
    expect(await docker('run', '--rm', image, '--version')).toBe(`sluice ${version}\n`);
    const cedar = 'import("@cedar-policy/cedar-wasm/nodejs").then(() => console.log("there"))';
    expect(await docker('run', '--rm', '--entrypoint', 'node', image, '-e', cedar)).toBe('there\n');
  });
});

describe('a container without a command, with no right and nothing that it may write but its volume', () => {
  let port = 0;
  const url = (path: string): string => `http://127.0.0.1:${port}${path}`;
  const sluice = (...args: string[]): Promise<string> => docker('exec', name, 'sluice', ...args);
  const ask = (): Promise<Response> =>
    fetch(url('/v1/runs'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'wait=30' },
      body: JSON.stringify({ question, group: ['read-only'] }),
    });
  const secret = async (): Promise<string> =>
    (await docker('exec', name, 'cat', '/var/lib/sluice/local-secret')).trim();

  beforeAll(async () => {
    port = await freePort();
    const bounds = [
      '--read-only',
      '--tmpfs',
      '/tmp',
      '--cap-drop',
      'ALL',
      '--security-opt',
      'no-new-privileges',
      '--memory',
      '512m',
    ];
    const published = [
      '-p',
      `127.0.0.1:${port}:8091`,
      '-e',
      'SLUICE_PUBLISHED_ON_LOOPBACK=true',
      '-v',
      `${name}:/var/lib/sluice`,
    ];
    await docker('run', '--detach', '--init', '--name', name, ...bounds, ...published, image);
    await healthy(name);
  }, 4 * minutes);
  afterAll(async () => {
    await docker('rm', '--force', '--volumes', name);
    await docker('volume', 'rm', name);
  }, minutes);

  it('becomes healthy, has run the sample, and names commands as they are typed beside it', async () => {
    const said = await docker('logs', name);
    expect(said).toContain('The answer is right');
    const [id = ''] = lines(await docker('inspect', '-f', '{{.Config.Hostname}}', name));
    expect(said).toContain(`docker exec -it ${id} sluice ask`);
    expect(said).not.toContain('From outside of this container');
  });

  it(
    'answers over HTTP and by docker exec',
    async () => {
      const response = await ask();
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { kind: 'answer', answer: expect.stringContaining('Tokyo') },
      ]);
      expect(JSON.parse(await sluice('ask', question, '--group', 'read-only', '--json'))).toMatchObject({
        kind: 'answer',
        answer: expect.stringContaining('Tokyo'),
      });
    },
    minutes,
  );

  it(
    'serves the console, into which the link that docker exec prints signs a browser in',
    async () => {
      const page = await (await fetch(url('/'))).text();
      const assets = [...page.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path);
      expect(assets.length).toBeGreaterThan(0);
      for (const path of assets) expect([path, (await fetch(url(path))).status]).toEqual([path, 200]);
      const [, code = ''] = /#sign-in=(\S+)/.exec(await sluice('console')) ?? [];
      const signIn = await fetch(url('/v1/console/sign-in'), {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url(''), 'sec-fetch-site': 'same-origin' },
        body: JSON.stringify({ code }),
      });
      expect(signIn.status).toBe(200);
    },
    minutes,
  );

  it(
    'ends well when it is stopped, and has its runs when it is started again',
    async () => {
      const listed = async (): Promise<readonly string[]> => {
        const headers = { authorization: `Bearer ${await secret()}` };
        const { runs = [] } = (await (await fetch(url('/v1/runs?limit=50'), { headers })).json()) as {
          runs?: { request_id: string }[];
        };
        return runs.map((one) => one.request_id).sort();
      };
      const before = await listed();
      expect(before.length).toBeGreaterThan(2);
      const began = performance.now();
      await docker('stop', '-t', '30', name);
      expect(performance.now() - began).toBeLessThan(20 * seconds);
      expect((await docker('inspect', '-f', '{{.State.ExitCode}} {{.State.OOMKilled}}', name)).trim()).toBe('0 false');
      await docker('start', name);
      await healthy(name);
      expect(await listed()).toEqual(expect.arrayContaining([...before]));
      expect((await ask()).status).toBe(200);
      expect(await sluice('audit', 'verify')).toContain('Nothing was changed, dropped, inserted or moved');
    },
    5 * minutes,
  );
});

it(
  'a container without that variable refuses what comes from outside, and says why',
  async () => {
    const port = await freePort();
    const other = `${name}-other`;
    await docker('run', '--detach', '--init', '--name', other, '-p', `127.0.0.1:${port}:8091`, image);
    try {
      await healthy(other);
      expect(await docker('logs', other)).toContain('-e SLUICE_PUBLISHED_ON_LOOPBACK=true');
      const response = await fetch(`http://127.0.0.1:${port}/v1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ question }),
      });
      expect([response.status, await response.json()]).toMatchObject([
        403,
        { detail: expect.stringContaining('SLUICE_PUBLISHED_ON_LOOPBACK=true') },
      ]);
    } finally {
      await docker('rm', '--force', '--volumes', other);
    }
  },
  5 * minutes,
);
