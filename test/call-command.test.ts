import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { command } from './harness/command.js';
import { eventually } from './harness/eventually.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-call-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const config = join(folder, 'sluice.yaml');
writeFileSync(
  config,
  `
tool:
  clock: { type: get_current_time, group: [basic] }
  todo: { type: add_todo, group: [write], state: planned }
  notes: { type: read_file, group: [basic], available_in_states: [analysis] }
  wiped: { type: delete_file, group: [basic] }
policy: { allowed_tools: [clock, todo, notes], approval: { approvers: ['user:ann'], effects: [external_side_effect] } }
model: { provider: anthropic, name: not-asked }
`,
);
const variables = { SLUICE_DATA: join(folder, 'data'), SLUICE_CONFIG: config, SLUICE_PORT: '0' };
const call = (...words: string[]) => command(['call', ...words], variables);
const step = async (...words: string[]) =>
  JSON.parse((await call(...words, '--json')).output) as Record<string, unknown> & { session_id: string };

describe('`sluice call`', () => {
  it('runs one tool in the executor without a model, and shows the run', async () => {
    const { code, output, errors } = await call('clock', '{"timezone":"Asia/Tokyo"}', '--group', 'basic');
    expect([code, errors]).toEqual([0, '']);
    expect(output).toMatch(/offered +clock\n +hidden +1 \(group\), 1 \(state\), 1 \(policy\)\n/);
    expect(output).toMatch(/call +clock \{"timezone":"Asia\/Tokyo"\}\n +observed +\{"time":/);
    expect(output).toMatch(/Answer +\{"time":.*Asia\/Tokyo/);
    expect(output).toMatch(/Session call-/);
  });

  it.each([
    [
      'a tool of another group',
      ['todo', '{}', '--group', 'basic'],
      { outcome: 'policy_denied', reason: 'not_eligible_group' },
    ],
    [
      'a tool of another state',
      ['notes', '{"path":"a"}', '--group', 'basic'],
      { outcome: 'policy_denied', reason: 'not_eligible_state' },
    ],
    [
      'what the policy does not allow',
      ['wiped', '{"path":"a"}', '--group', '*'],
      { outcome: 'policy_denied', reason: 'not_allowed' },
    ],
    ['arguments that the tool does not take', ['clock', '{"zone":1}', '--group', 'basic'], { outcome: 'validation' }],
    ['arguments that are no JSON', ['clock', '{"zone"', '--group', 'basic'], { outcome: 'invalid_json' }],
  ])('refuses %s, as it refuses a model', async (_, words, refused) => {
    expect(await step(...words)).toMatchObject(refused);
  });

  it('moves the state, and leaves records that replay to the byte and are audited', async () => {
    const done = await step('todo', '{"task":"Try it"}', '--group', 'write');
    expect(done).toMatchObject({ tool: 'todo', outcome: 'ok', state: 'planned' });
    const replayed = await command(['replay', '--session', done.session_id, '--json'], variables);
    expect(JSON.parse(replayed.output)).toMatchObject({ replayed: 2, equal: 2, different: 0 });
    const verified = await command(['audit', 'verify'], variables);
    expect(verified).toMatchObject({ code: 0, output: expect.stringContaining('Nothing was changed') });
    const told = await command(['audit', 'show', done.session_id], variables);
    expect(told.output).toMatch(/called todo .*; decided with the groups write; hidden: 3 \(group\); configuration c-/);
    const runs = await command(['runs', '--tool', 'todo', '--json'], variables);
    const listed = runs.output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(listed.at(-1)).toMatchObject({ session_id: done.session_id, outcome: 'answer', tools: ['todo'] });
  });

  it('waits for an approval that the policy asks for, and ends with the decision', async () => {
    const asking = join(folder, 'asking.yaml');
    writeFileSync(asking, readFileSync(config, 'utf8').replace('external_side_effect', 'state_change'));
    const own = { ...variables, SLUICE_CONFIG: asking, SLUICE_DATA: join(folder, 'asking') };
    const running = command(['call', 'todo', '{"task":"Try it"}', '--group', 'write', '--json'], own);
    const open = () => command(['approvals', 'list', '--json'], own);
    const { output } = await eventually(open, (listed) => listed.output.includes('approval_id'));
    const { approval_id: id } = JSON.parse(output) as { approval_id: string };
    expect((await command(['approvals', 'refuse', id, '--as', 'user:ann'], own)).code).toBe(0);
    const { code, output: said } = await running;
    expect([code, JSON.parse(said)]).toEqual([1, expect.objectContaining({ tool: 'todo', outcome: 'policy_denied' })]);
  });

  it('says in a dry run what the call would come to, and publishes nothing', async () => {
    const own = { ...variables, SLUICE_DATA: join(folder, 'dry') };
    const dry = async (...words: string[]) => {
      const { code, output } = await command(['call', ...words, '--dry-run', '--json'], own);
      return [code, JSON.parse(output) as unknown];
    };
    expect(await dry('clock', '{"timezone":"Asia/Tokyo"}', '--group', 'basic')).toMatchObject([
      0,
      { tool: 'core__clock', outcome: 'runs', offered: true, arguments_valid: true, needs_approval: false },
    ]);
    expect(await dry('clock', '{"zone":1}', '--group', 'basic')).toMatchObject([
      1,
      { outcome: 'refused', arguments_valid: false, problems: [{ path: '/zone' }], code: 'validation' },
    ]);
    expect(await dry('todo', '{}', '--group', 'basic')).toMatchObject([
      1,
      { offered: false, arguments_valid: null, reason: 'not_eligible_group' },
    ]);
    const asking = join(folder, 'asking-dry.yaml');
    writeFileSync(asking, readFileSync(config, 'utf8').replace('external_side_effect', 'state_change'));
    const words = ['call', 'todo', '{"task":"Try it"}', '--group', 'write', '--dry-run'];
    const said = await command(words, { ...own, SLUICE_CONFIG: asking });
    expect([said.code, said.output]).toEqual([
      0,
      expect.stringMatching(/call +core__todo would wait for an approval\n/),
    ]);
    expect(said.output).toMatch(/arguments +valid\n[^]*approval +needed, of user:ann\n/);
    expect((await command(['runs'], own)).output).toBe('No run is selected.\n');
  });

  it('says in a dry run what rules with a span count, and up to what', async () => {
    const file = join(folder, 'counting.yaml');
    const rules = 'rules: { few: { tools: [clock], totals: [{ of: calls, at_most: 5, per: tenant, within: 1h }] } }\n';
    writeFileSync(file, `${readFileSync(config, 'utf8')}${rules}`);
    const own = { ...variables, SLUICE_CONFIG: file, SLUICE_DATA: join(folder, 'dry') };
    const words = ['call', 'clock', '{"timezone":"Asia/Tokyo"}', '--group', 'basic', '--dry-run'];
    const few = { rule: 'few', per: 'tenant', within: '1h', argument: null, limit: '5' };
    expect(JSON.parse((await command([...words, '--json'], own)).output)).toMatchObject({
      counted: [{ ...few, used: null }],
    });
    expect((await command(words, own)).output).toMatch(/counted +few: at most 5 calls per tenant within 1h\n/);
  });

  it.each([
    ['permissions: [{ principals: ["user:ann"], tenants: ["*"], tools: ["*"] }]', 'refused', false, 'not_permitted'],
    ['openfga: { url: "http://127.0.0.1:9", store: s }', 'runs', null, null],
  ])(
    'asks in a dry run an authorizer that decides in this process: %s',
    async (section, outcome, authorized, reason) => {
      const file = join(folder, `authorizing-${outcome}.yaml`);
      writeFileSync(file, `${readFileSync(config, 'utf8')}authorization: { ${section} }\n`);
      const own = { ...variables, SLUICE_CONFIG: file, SLUICE_DATA: join(folder, 'dry') };
      const words = ['call', 'clock', '{}', '--group', 'basic', '--dry-run', '--json'];
      expect(JSON.parse((await command(words, own)).output)).toMatchObject({ outcome, authorized, reason });
    },
  );

  it('names a near tool for one that does not exist', async () => {
    expect((await call('clok')).errors).toBe('The configuration has no tool "clok". Did you mean clock?');
  });

  it.each([
    [[], 'Name one tool'],
    [['clock', '{}', 'more'], 'Name one tool'],
  ])('refuses %j', async (words, said) => {
    expect((await call(...words)).errors).toContain(said);
  });
});

describe('`sluice runs`', () => {
  const runs = async (...words: string[]) => {
    const { output, errors } = await command(['runs', ...words], variables);
    return errors || output;
  };

  it('lists runs in words, and as JSON', async () => {
    expect(await runs()).toMatch(/call-\S+ {2}answer in \d+\.\d s {2}“Call clock with/);
    expect(await runs()).toContain('user:local of local, 1 iteration, clock\n');
    expect((await runs('--json', '--limit', '1')).trim().split('\n')).toHaveLength(1);
  });

  it.each([
    [['--user', 'local'], true],
    [['--user', 'ann'], false],
    [['--tenant', 'local'], true],
    [['--tenant', 'acme'], false],
    [['--tool', 'core__clock'], true],
    [['--tool', 'notes2'], false],
    [['--outcome', 'answer'], true],
    [['--outcome', 'error'], false],
    [['--outcome', 'running'], false],
    [['--since', '1h'], true],
    [['--since', '2999-01-01'], false],
  ])('%j selects runs: %s', async (words, some) => {
    expect((await runs(...words)) !== 'No run is selected.\n').toBe(some);
  });

  it.each([
    [['--outcome', 'nope'], '--outcome is "nope"'],
    [['--since', 'yesterday'], '--since is "yesterday"'],
    [['--limit', '0'], '--limit is "0"'],
  ])('refuses %j', async (words, said) => {
    expect(await runs(...words)).toContain(said);
  });
});

describe('`sluice init`', () => {
  it('writes a configuration that compiles, and never replaces one', async () => {
    const file = join(folder, 'new', 'mine.yaml');
    const { code, output } = await command(['init', file]);
    expect([code, output]).toEqual([0, expect.stringContaining(`npx sluice check ${file}`)]);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=\S+schemas\/configuration\.schema\.json\n/,
    );
    const data = join(folder, 'init');
    const asked = await command(['call', 'get_current_time', '--group', 'basic'], {
      ...variables,
      ...{ SLUICE_CONFIG: file, SLUICE_DATA: data },
    });
    expect(asked.code).toBe(0);
    const again = await command(['init', file]);
    expect([again.code, again.errors]).toEqual([1, `${file} is there already, and stays as it is. Name another file.`]);
  });
});
