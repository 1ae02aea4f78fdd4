import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentStep } from '@sluice/contracts';
import { audience, issuer, newIssuer } from '../libs/identity/test/issuer.js';
import type { Issuer } from '../libs/identity/test/issuer.js';
import { asked, decide } from './harness/approving.js';
import { projectRoot } from './harness/configurations.js';
import { ScriptedModel, startSystem } from './harness/system.js';
import type { TestSystem } from './harness/system.js';

type Call = readonly [tool: string, args: object];

const folder = mkdtempSync(join(tmpdir(), 'sluice-recipes-'));
const keyFile = join(folder, 'jwks.json');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The example as it stands, with paths that hold from elsewhere, and keys that this test has. */
function recipe(name: string): string {
  return readFileSync(join(projectRoot, 'examples/policy', `${name}.yaml`), 'utf8')
    .replaceAll(/issuer: urn:\S+/g, `issuer: ${issuer}`)
    .replaceAll('audience: sluice', `audience: ${audience}`)
    .replaceAll('examples/policy/jwks.json', keyFile)
    .replaceAll('examples/policy/', join(projectRoot, 'examples/policy/'));
}

describe('the recipes of docs/policy.md', () => {
  let system: TestSystem;
  let honest: Issuer;
  let count = 0;
  beforeAll(async () => {
    honest = await newIssuer();
    writeFileSync(keyFile, JSON.stringify(honest.jwks));
  });
  afterEach(() => system.close());

  /** The question is the calls, one a turn, whatever comes of each. */
  const playing = new ScriptedModel(({ question, history }) => {
    const call = (JSON.parse(question) as Call[])[history.length];
    if (call === undefined) return { answer: 'done' };
    return { calls: [[`mcp__office__${call[0]}`, JSON.stringify(call[1])]] };
  });
  const start = async (name: string) => (system = await startSystem(recipe(name), playing));

  interface Asking {
    readonly session?: string;
    readonly claims?: object;
    readonly groups: string[];
  }

  async function begin(calls: readonly Call[], { session, claims, groups }: Asking): Promise<string> {
    const id = `r-${count++}`;
    const json = { question: JSON.stringify(calls), request_id: id, session_id: session ?? id, group: groups };
    const token = claims === undefined ? null : await honest.token({ tool_groups: groups, ...claims });
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    await system.bus.appendRaw('agent.requests', json.session_id, Buffer.from(JSON.stringify(json)), headers);
    return id;
  }

  async function play(calls: readonly Call[], asking: Asking): Promise<readonly AgentStep[]> {
    return stepsOf(await begin(calls, asking));
  }
  /** The steps of the run, once it has ended, as the executor published them. */
  async function stepsOf(requestId: string): Promise<readonly AgentStep[]> {
    await system.responseOf(requestId);
    const turns = (await system.all('agent.steps')).filter(({ record }) => record.requestId === requestId);
    return turns.flatMap(({ record }) => record.steps);
  }
  /** Outcome, and the rule that refused. */
  const ends = (steps: readonly AgentStep[]) =>
    steps.map(({ outcome, rule }) => (rule === null ? outcome : `${outcome} by ${rule}`));

  it('payments: bounds, questions by the amount, two persons, a total of the day', async () => {
    await start('payments');
    const pay = (amount: number, recipient = 'DE02120300000000202051', currency = 'EUR'): Call => [
      'send_payment',
      { recipient, amount, currency },
    ];
    const groups = ['payments'];
    expect(ends(await play([pay(80), pay(6_000), pay(80, undefined, 'USD'), pay(80, 'DE00')], { groups }))).toEqual([
      'ok',
      expect.stringMatching(/^policy_denied by .*send_payment/),
      expect.stringMatching(/^policy_denied by .*send_payment/),
      'policy_denied by known-suppliers',
    ]);

    const one = await begin([pay(300)], { groups });
    await decide(system, await asked(system, 1), 'approve', { decidedBy: 'user:tess' });
    expect(ends(await stepsOf(one))).toEqual(['ok']);

    const two = await begin([pay(900)], { groups });
    const request = await asked(system, 2);
    await decide(system, request, 'approve', { decidedBy: 'user:tess' });
    expect((await system.all('agent.responses')).some(({ record }) => record.requestId === two)).toBe(false);
    await decide(system, request, 'approve', { decidedBy: 'user:theo' });
    expect(ends(await stepsOf(two))).toEqual(['ok']);
  });

  it('mail: to contacts alone, and to no one within an hour of reading, in this run and the next', async () => {
    await start('mail');
    const mail = (...to: string[]): Call => ['send_mail', { to, subject: 'Hi', body: 'It is ready.' }];
    const groups = ['mail'];
    expect(ends(await play([mail('ann@example.org'), mail('ann@example.org', 'eve@example.com')], { groups }))).toEqual(
      ['ok', 'policy_denied by contacts-only'],
    );
    expect(ends(await play([['read_inbox', {}], mail('ann@example.org')], { groups }))).toEqual([
      'ok',
      'policy_denied by nothing-after-strangers',
    ]);
    expect(ends(await play([mail('ann@example.org')], { groups }))).toEqual([
      'policy_denied by nothing-after-strangers',
    ]);
  });

  it('a coding agent: paths, scripts and hosts', async () => {
    await start('coding-agent');
    const write = (path: string): Call => ['write_file', { path, text: 'x' }];
    const fetch = (url: string): Call => ['fetch_page', { url }];
    const steps = await play(
      [
        write('src/main.js'),
        write('.github/workflows/ci.yml'),
        write('package.json'),
        write('src/../.env'),
        ['run_script', { script: 'test' }],
        ['run_script', { script: 'publish' }],
        fetch('https://nodejs.org/api/'),
        fetch('https://example.com/?data=1'),
      ],
      { groups: ['code'] },
    );
    expect(steps.map(({ outcome }) => outcome)).toEqual([
      ...['ok', 'policy_denied', 'policy_denied', 'policy_denied'],
      ...['ok', 'policy_denied', 'ok', 'policy_denied'],
    ]);
    const tests = await begin([write('test/main.test.js')], { groups: ['code'] });
    await decide(system, await asked(system, 1), 'refuse', { decidedBy: 'user:dora' });
    expect(await stepsOf(tests)).toMatchObject([{ reason: 'approval_refused' }]);
  });

  it('an analyst: tables of the credential, portions at night, rows of an hour', async () => {
    await start('analyst');
    const rows = (table: string, limit?: number): Call => ['query', limit === undefined ? { table } : { table, limit }];
    const asking = (claims: object) => ({ groups: ['analysis'], claims: { tables: ['orders'], ...claims } });
    const day = asking({ sub: 'dan' });
    expect(ends(await play([rows('orders', 500), rows('salaries', 10), rows('orders', 1_001)], day))).toEqual([
      'ok',
      expect.stringMatching(/^policy_denied by .*query/),
      expect.stringMatching(/^policy_denied by .*query/),
    ]);
    const night = asking({ sub: 'nina', shift: ['night'] });
    expect(ends(await play([rows('orders', 500), rows('orders', 100)], night))).toEqual([
      'policy_denied by small-portions-at-night',
      'ok',
    ]);
    const often = Array.from({ length: 8 }, () => rows('orders', 1_000));
    const busy = asking({ sub: 'bea' });
    const steps = [...(await play(often, busy)), ...(await play(often, busy)), ...(await play(often, busy))];
    expect(ends(steps).filter((end) => end === 'ok')).toHaveLength(20);
    expect(ends(steps).slice(20)).toEqual(Array(4).fill('policy_denied by rows-of-an-hour'));
  });

  it('customer data: accounts of the credential, and nothing leaves the session after a look', async () => {
    await start('customer-data');
    const customer = (account: string): Call => ['get_customer', { account }];
    const mail = (to: string): Call => ['send_mail', { to: [to], subject: 'Hi', body: 'It is ready.' }];
    const message = (channel: string): Call => ['post_message', { channel, text: 'It is solved.' }];
    const asking = (session: string) => ({ groups: ['support'], claims: { sub: 'kim', accounts: ['a-1'] }, session });
    expect(
      ends(
        await play(
          [
            mail('ann@example.org'),
            customer('a-2'),
            customer('a-1'),
            message('#support'),
            message('#press'),
            mail('ann@example.org'),
          ],
          asking('desk-1'),
        ),
      ),
    ).toEqual([
      'ok',
      expect.stringMatching(/^policy_denied by .*get_customer/),
      'ok',
      'ok',
      'policy_denied by inside-only',
      'policy_denied by nothing-leaves',
    ]);
    const page: Call = ['fetch_page', { url: 'https://example.com/' }];
    expect(ends(await play([page], asking('desk-1')))).toEqual(['policy_denied by nothing-leaves']);
    expect(ends(await play([page], asking('desk-2')))).toEqual(['ok']);
  });
});
