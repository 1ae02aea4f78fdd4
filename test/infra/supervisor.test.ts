import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { given, kinds, valueOf, variables } from './address.ts';
import { startTimeout } from './client.ts';

/**
 * A process with a supervisor of its own, without Docker and without anything the environment names, that runs
 * `body`.
 */
function startParent(body: string, environment: NodeJS.ProcessEnv = {}): ChildProcess {
  const moduleAt = (name: string): string => JSON.stringify(`file://${join(import.meta.dirname, name)}`);
  const program = `
    import { launch } from ${moduleAt('launch.ts')};
    import { infra } from ${moduleAt('client.ts')};
    process.env.SLUICE_TEST_INFRA = (await launch()).url;
    ${body}`;
  const nothingNamed = Object.fromEntries(kinds.map((kind) => [variables[kind], '']));
  return spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...nothingNamed, DOCKER_HOST: 'unix:///nowhere/docker.sock', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function firstLineOf(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (text.includes('\n')) break;
  }
  return text.trim();
}

interface Running {
  readonly pid: number;
  readonly command: string;
}

/** All processes that descend from `pid`, with their command lines. */
function descendants(pid: number): readonly Running[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, child, parent, command]) => ({ pid: Number(child), parent: Number(parent), command: command ?? '' }));
  const below = (parent: number): Running[] =>
    rows.filter((row) => row.parent === parent).flatMap((row) => [row, ...below(row.pid)]);
  return below(pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function leftAfter(milliseconds: number, processes: readonly Running[]): Promise<readonly Running[]> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const left = processes.filter(({ pid }) => isAlive(pid));
    if (left.length === 0 || Date.now() > deadline) return left;
    await sleep(50);
  }
}

describe('the supervisor', () => {
  it.each(['its parent', 'itself'])(
    'leaves no process behind when SIGKILL ends %s',
    async (victim) => {
      const parent = startParent(`console.log((await infra('postgres')).databaseUrl); setInterval(() => {}, 1_000);`);
      expect(await firstLineOf(parent)).toMatch(/^postgres:/);
      const started = descendants(parent.pid ?? 0);
      const supervisor = started.find(({ command }) => command.includes('supervisor.ts'));
      const server = started.find(({ command }) => /postgres.* -D /.test(command));
      const data = / -D (\S+)/.exec(server?.command ?? '')?.[1] ?? '';
      expect(supervisor).toBeDefined();
      expect(existsSync(data)).toBe(true);
      process.kill((victim === 'itself' ? supervisor?.pid : parent.pid) ?? 0, 'SIGKILL');
      expect(await leftAfter(15_000, started)).toEqual([]);
      if (victim === 'its parent') expect(existsSync(data)).toBe(false);
      // A supervisor that was killed could not remove its folder.
      else rmSync(join(data, '..', '..'), { recursive: true });
      parent.kill('SIGKILL');
    },
    startTimeout,
  );

  it('ends what is only being started when its parent ends', async () => {
    const parent = startParent(`void infra('postgres'); setTimeout(() => console.log('asked'), 250);`);
    await firstLineOf(parent);
    const started = descendants(parent.pid ?? 0);
    expect(started).not.toEqual([]);
    parent.kill('SIGKILL');
    expect(await leftAfter(15_000, started)).toEqual([]);
  });

  it('says what to install if a part can’t be had, to everybody who asks', async () => {
    const parent = startParent(
      `const ask = () => infra('registry').catch(({ message }) => message);
       console.log(JSON.stringify([await ask(), await ask()])); process.exit();`,
      { JAVA_HOME: '/nowhere' },
    );
    const [first, second] = JSON.parse(await firstLineOf(parent)) as string[];
    expect(first).toContain('There is no Java at `/nowhere/bin/java`. Install a JDK, version 17 or later');
    expect(second).toBe(first);
  });

  it('hands out what the environment names, and starts nothing for it', async () => {
    const parent = startParent(`console.log(JSON.stringify(await infra('kafka'))); setInterval(() => {}, 1_000);`, {
      KAFKA_BROKERS: 'one:9092, two:9092',
    });
    expect(JSON.parse(await firstLineOf(parent))).toEqual({ kind: 'kafka', brokers: ['one:9092', 'two:9092'] });
    expect(descendants(parent.pid ?? 0)).toHaveLength(1);
    parent.kill();
  });
});

describe('an address', () => {
  it.each(kinds)('of %s is read back from the variable that carries it', (kind) => {
    const value = 'one.example:1234,two.example:1234';
    const address = given(kind, { [variables[kind]]: value });
    expect(address).toMatchObject({ kind });
    expect(address && valueOf(address)).toBe(value);
  });

  it.each([{}, { DATABASE_URL: '' }, { DATABASE_URL: '  ' }])('is not there in %j', (environment) => {
    expect(given('postgres', environment)).toBeNull();
  });
});
