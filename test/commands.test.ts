import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';
import { run as topics } from '../apps/sluice/src/commands/topics.js';
import { projectRoot, workflowConfiguration } from './harness/configurations.js';
import { inProcess } from './harness/in-process.js';
import { sluice } from './harness/program.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-commands-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const data = { SLUICE_DATA: join(folder, 'data') };
const spec = join(projectRoot, 'examples/spec-5.1.yaml');

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('sluice explain', () => {
  it('prints one decision a line with exactly the ten keys', async () => {
    const requests = [
      { question: 'q', group: ['read-only', 'knowledge'], state: 'undefined' },
      { question: 'q', group: ['advanced', 'compute', 'write'], state: 'analysis' },
      { question: 'q', group: ['admin'], state: 'results' },
      { question: 'q' },
      { question: 'q', group: [] },
      { question: 'q', group: ['*', 'no-such-group'], state: '' },
    ];
    const input = requests.map((request) => JSON.stringify(request)).join('\n');
    const { code, output } = await sluice(['explain', '--config', spec], {}, input).ended;
    const decisions = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(code).toBe(0);
    expect(decisions.map((decision) => decision['eligible'])).toEqual([
      ['knowledge-query', 'text-completion'],
      ['graph-update', 'complex-analysis'],
      ['reset-workflow'],
      [],
      [],
      ['knowledge-query', 'text-completion'],
    ]);
    expect(decisions[0]).toEqual({
      eligible: ['knowledge-query', 'text-completion'],
      permitted: [],
      offered: [],
      closed: {},
      filtered_by_group: ['complex-analysis', 'reset-workflow'],
      filtered_by_state: ['graph-update'],
      unknown_groups: [],
      transitions: { 'knowledge-query': 'analysis', 'text-completion': 'undefined' },
      hidden: expect.objectContaining({
        'graph-update': {
          state: 'It is not available in this state.',
          policy: 'The policy does not allow it, or names nobody who may approve it.',
        },
      }),
      config_version: expect.stringMatching(/^c-[0-9a-f]{16}$/),
    });
    expect(decisions[5]).toMatchObject({ unknown_groups: ['no-such-group'] });
  });

  it('adds what the policy permits, and puts what is hidden by both under group', async () => {
    const config = file('policy.yaml', workflowConfiguration({ allowed: 'text-completion' }));
    const { output } = await sluice(['explain', '--config', config], {}, '{"group":["read-only"]}\n').ended;
    expect(JSON.parse(output)).toMatchObject({
      eligible: ['knowledge-query', 'text-completion'],
      permitted: ['text-completion'],
      filtered_by_group: ['graph-update', 'complex-analysis', 'reset-workflow'],
      filtered_by_state: [],
    });
  });

  it('says what a tool_choice comes to, or that it is refused, which is no mistake of the line (K-07)', async () => {
    const config = file('choice.yaml', workflowConfiguration({ allowed: 'text-completion' }));
    const lines = ['text-completion', 'knowledge-query'].map((choice) =>
      JSON.stringify({ group: ['read-only'], tool_choice: choice }),
    );
    const { code, output } = await sluice(['explain', '--config', config], {}, lines.join('\n')).ended;
    const [chosen, refused] = output.split('\n');
    expect(code).toBe(0);
    expect(JSON.parse(chosen ?? '')).toMatchObject({ tool_choice: 'core__text-completion' });
    expect(JSON.parse(refused ?? '')).toMatchObject({ refused: expect.stringContaining('Offered are: core__text-') });
  });

  it.each([
    ['whoever asks', '', "['*']", true],
    ['whoever asks, of a tenant that nobody is of without an identity', '', '[acme]', false],
    [
      'one who may use it',
      'identity: { provider: jwt, jwks_url: "https://a.example/keys", issuer: a, audience: b }',
      '[acme]',
      true,
    ],
  ])('takes the connections of the request as those of %s', async (_, identity, tenants, open) => {
    const workflow = workflowConfiguration({ limits: identity });
    const config = file(
      'connections.yaml',
      `${workflow.replace('analysis: { command', 'analysis: { connection: crm, connection_env: TOKEN, command')}
connections: { crm: { adapter: environment, variable: CRM, tenants: ${tenants} } }\n`,
    );
    const lines = [{}, { connections: ['*'] }, { connections: ['crm'] }, { connections: ['mail'] }].map((named) =>
      JSON.stringify({ group: ['compute'], state: 'analysis', tool_choice: 'complex-analysis', ...named }),
    );
    const { output } = await sluice(['explain', '--config', config], { CRM: 'a-token-of-crm' }, lines.join('\n')).ended;
    const told = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { tool_choice?: string; hidden: Record<string, object> });
    const without = { connection: expect.stringMatching(/^It needs a connection that the request does not name/) };
    expect(told.map(({ hidden }) => hidden['complex-analysis'])).toEqual(
      [false, open, open, false].map((may) => (may ? undefined : without)),
    );
    expect(told.map(({ tool_choice: choice }) => choice !== undefined)).toEqual([false, open, open, false]);
  });

  it('answers a line that is no request in its place, goes on, and ends with 1', async () => {
    const { code, output } = await sluice(['explain', '--config', spec], {}, 'nonsense\n{"group":"x"}\n{}\n').ended;
    const lines = output.trim().split('\n');
    expect(code).toBe(1);
    expect(lines.map((line) => Object.keys(JSON.parse(line) as object)[0])).toEqual(['error', 'error', 'eligible']);
    expect(lines[1]).toContain('$.group must be a list');
  });
});

describe('sluice check', () => {
  it('names every mistake by its path and ends with 1', async () => {
    const config = file(
      'bad.yaml',
      'tool:\n  a: { type: knowledge-quary, group: [1], colour: red }\n  b: { type: text-completion, state: "*" }\nlimits: { max_iterations: 0 }\n',
    );
    const { code, output } = await sluice(['check', config]).ended;
    expect(code).toBe(1);
    for (const path of ['tool.a.type', 'tool.a.group[0]', 'tool.a.colour', 'tool.b.state', 'limits.max_iterations']) {
      expect(output).toContain(path);
    }
    expect(output).toContain('knowledge-query');
  });

  it.each([
    ['no file', '/nonexistent.yaml', 'no such file'],
    ['broken YAML', file('broken.yaml', 'tool: [\n'), 'broken.yaml:'],
    [
      'a key twice',
      file('twice.yaml', 'tool:\n  a: { type: text-completion }\n  a: { type: text-completion }\n'),
      'unique',
    ],
  ])('says what is wrong with %s', async (_, path, said) => {
    const { code, output } = await sluice(['check', path]).ended;
    expect(code).toBe(1);
    expect(output).toContain(said);
  });
});

describe('sluice check, where an allowed tool is not there', () => {
  const away = file(
    'away.yaml',
    workflowConfiguration({ server: '/nonexistent/server.mjs', allowed: 'text-completion, complex-analysis' }),
  );

  it('says how many of the allowed tools are offered, and marks it where some are not', async () => {
    const { code, output } = await sluice(['check', away]).ended;
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/^! .*away\.yaml: \d+ tools, 2 allowed, 1 of 2 offered, version /),
    ]);
  });

  it('ends with 1 with --strict, which has nothing against a tool that is not allowed', async () => {
    const { code, output } = await sluice(['check', '--strict', away]).ended;
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^✗ .*, 1 of 2 offered, version .*\n.*complex-analysis/s),
    ]);
    const named = workflowConfiguration({ server: '/nonexistent/server.mjs', allowed: 'text-completion' });
    const { code: well, output: said } = await sluice(['check', '--strict', file('named.yaml', named)]).ended;
    expect([well, said]).toEqual([0, expect.stringMatching(/^✓ .* tools, 1 allowed, version /)]);
  });
});

describe('sluice config', () => {
  it('applies, lists, shows and compares versions, and refuses a bad file', async () => {
    const first = file('first.yaml', workflowConfiguration({ allowed: 'knowledge-query' }));
    const second = file('second.yaml', workflowConfiguration({ allowed: 'knowledge-query, text-completion' }));
    const apply = async (path: string) => (await sluice(['config', 'apply', path], data).ended).output;
    const versionIn = (text: string) => /c-[0-9a-f]{16}/.exec(text)?.[0] ?? '';

    const one = versionIn(await apply(first));
    expect(await apply(first)).toContain('in force already');
    const two = versionIn(await apply(second));
    expect(await apply(file('bad2.yaml', 'tool: 3'))).toContain('is refused');

    const { output: list } = await sluice(['config', 'list'], data).ended;
    expect(list.trim().split('\n').map(versionIn)).toEqual([one, two]);
    expect(list.trim().split('\n')[1]).toContain('in force');
    const { output: shown } = await sluice(['config', 'show', one], data).ended;
    expect(JSON.parse(shown)).toMatchObject({ version: one, policy: { allowedTools: ['core__knowledge-query'] } });
    const { output: diff } = await sluice(['config', 'diff', one], data).ended;
    expect(diff).toContain('+ policy.allowedTools.1: "core__text-completion"');
    expect((await sluice(['config', 'show', 'c-none'], data).ended).errors).toContain(
      'There was never a version c-none',
    );
    for (const [words, said] of [
      [['show', ''], 'Name the version.'],
      [['diff', 'c-', two], 'c- is too little to name the version by'],
    ] as const)
      expect(await sluice(['config', ...words], data).ended).toMatchObject({
        code: 1,
        output: '',
        errors: expect.stringContaining(said),
      });
  });
});

describe('sluice topics', () => {
  it('says how long each topic is kept in the largest unit that is exact', async () => {
    const loop = ['requests', 'toolsets', 'tool-calls', 'steps', 'responses'].map((name) => `agent.${name}`);
    const said = ['1m', '90m', '36h', '7d/1mb', '100d/1500gb'];
    const SLUICE_RETENTION = loop.map((topic, index) => `${topic}=${said[index]}`).join();
    const environment = readEnvironment({ SLUICE_RETENTION, SLUICE_RETENTION_HOURS: '200' });
    const { output } = await inProcess(topics, environment);
    const kept = new Map(output.split('\n').map((line) => [line.split(' ')[0], line.split('; kept ')[1]]));
    expect(loop.map((topic) => kept.get(topic))).toEqual([
      'for 1 min',
      'for 90 min',
      'for 36 h',
      'for 7 d, up to 1 MB',
      'for 100 d, up to 1,500 GB',
    ]);
    const others = ['agent.progress', 'agent.approvals', 'agent.config'].map((topic) => kept.get(topic));
    expect(others).toEqual(['for 1 h', 'for 200 h', 'for ever']);
  });
});

describe('a process that cannot start', () => {
  it('names the port that is taken, and what to set', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = String((server.address() as AddressInfo).port);
    try {
      const { code, errors } = await sluice(['start'], { ...data, SLUICE_PORT: port }).ended;
      expect(code).toBe(1);
      expect(errors).toMatch(
        new RegExp(`^sluice: Port ${port} on 127.0.0.1 is taken by another program. Set SLUICE_PORT`),
      );
    } finally {
      server.close();
    }
  });

  it.each([
    ['a data folder that cannot be made', { SLUICE_DATA: '/dev/null/data' }, 'SLUICE_DATA'],
    ['a configuration with mistakes', { ...data, SLUICE_CONFIG: file('bad3.yaml', 'tool: { a: {} }') }, 'tool.a.type'],
    ['a variable that makes no sense', { SLUICE_PORT: 'x' }, 'SLUICE_PORT is "x"'],
  ])('says so in a sentence: %s', async (_, variables, said) => {
    const { code, errors } = await sluice(['start'], variables).ended;
    expect(code).toBe(1);
    expect(errors).toContain(said);
    expect(errors).not.toContain('    at ');
  });

  it('names the process that holds the data folder', async () => {
    const shared = { SLUICE_DATA: join(folder, 'shared') };
    const first = sluice(['start'], shared);
    await first.says('It keeps serving');
    try {
      const { code, errors } = await sluice(['start'], shared).ended;
      expect(code).toBe(1);
      expect(errors).toContain(String(first.process.pid));
      const asked = await sluice(['ask', 'What is the capital of Chile?', '--group', 'read-only', '--json'], shared)
        .ended;
      expect(JSON.parse(asked.output)).toMatchObject({ kind: 'answer', answer: expect.stringContaining('Santiago') });
    } finally {
      first.process.kill('SIGTERM');
    }
    expect(await first.ended).toMatchObject({ code: 0, output: expect.stringContaining('Stopping') });
  });

  it.each([
    [[], 2, 'start  '],
    [['nope'], 1, 'There is no command "nope"'],
    [['ask'], 1, 'Give one question'],
    [['ask', 'q', '--request', ''], 1, '--request is empty'],
    [['ask', 'q', '--max-iterations', 'x'], 1, 'must be a whole number'],
    [['tail', '--topic', 'agent.nope'], 1, 'There is no topic agent.nope'],
    [['serve', '--role', 'nope'], 1, 'There is no role nope'],
  ])('bad words on the command line: %j', async (args, wanted, said) => {
    const { code, output, errors } = await sluice(args, data).ended;
    expect(code).toBe(wanted);
    expect(output + errors).toContain(said);
  });
});
