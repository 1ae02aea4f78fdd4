import { afterEach, describe, expect, it } from '@jest/globals';
import { make, topics } from '@sluice/contracts';
import type { StandingApproval } from '@sluice/contracts';
import { StandingApprovals } from '@sluice/run';
import { run as approvals } from '../../apps/sluice/src/commands/approvals.js';
import { asked, begun, configured, decide, short } from '../harness/approving.js';
import { calls, ids } from '../harness/configurations.js';
import { inProcess } from '../harness/in-process.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import type { TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const policy = "{ approvers: ['user:ann'], requester_may_not_approve: true }";
const bounds = '{"add/*/subject": {"one_of": ["Sluice"]}}';
const other = [ids.update, '{"add":[{"subject":"Cat","predicate":"is","object":"an animal"}]}'] as const;
const unlike = async ({ bus }: TestSystem) =>
  (await replayed(bus, null)).filter(({ outcome }) => outcome.kind !== 'equal');

/** Each question is answered by its call, then the end. */
async function opened(): Promise<TestSystem> {
  const model = new ScriptedModel(({ history, question }) => {
    if (history.length > 0) return { answer: 'Done.' };
    return { calls: [question === 'Other' ? other : calls.update] };
  });
  system = await startSystem(configured(policy), model);
  return system;
}

const ask = ({ ask: run }: TestSystem, requestId: string, question = 'Own', sessionId = 'session-1') =>
  run({ question, group: ['*'], state: 'analysis', requestId, sessionId });

const command = ({ embedded }: TestSystem, ...words: string[]) =>
  inProcess(approvals, embedded.runtime.environment, 'standing', ...words);
const give = (opened: TestSystem, ...more: string[]) =>
  command(opened, 'give', '--tool', 'graph-update', '--until', '1h', '--as', 'user:ann', '--json', ...more);

describe('a standing approval', () => {
  it('lets calls of its session run unasked within its bounds, so many, until it is revoked', async () => {
    const opened_ = await opened();
    const given = await give(
      opened_,
      '--session',
      'session-1',
      '--bounds',
      bounds,
      '--calls',
      '2',
      '--reason',
      'A test.',
    );
    expect([given.code, JSON.parse(given.output)]).toMatchObject([0, { status: 'taken' }]);
    const { standing_id: id } = JSON.parse(given.output) as { standing_id: string };

    expect(short((await ask(opened_, 'run-1')).history)).toEqual([['graph-update', 'ok', null, 'analysis']]);
    expect((await opened_.all('agent.approvals')).filter(({ record }) => record.requested !== null)).toEqual([]);
    const [step] = (await opened_.all('agent.steps')).flatMap(({ record }) => record.steps);
    expect(step?.facts).toMatchObject({ 'approval/standing': id });

    // Out of its bounds, and of another session: asked as ever.
    const outside = ask(opened_, 'run-2', 'Other');
    await decide(opened_, await asked(opened_), 'refuse');
    expect((await outside).history[0]?.reason).toBe('approval_refused');
    const elsewhere = ask(opened_, 'run-3', 'Own', 'session-2');
    await decide(opened_, await asked(opened_, 2), 'refuse');
    await elsewhere;

    // The second call uses it up.
    expect((await ask(opened_, 'run-4')).history[0]?.outcome).toBe('ok');
    const third = ask(opened_, 'run-5');
    await decide(opened_, await asked(opened_, 3), 'refuse');
    await third;
    expect(JSON.parse((await command(opened_, 'list', '--json')).output)).toMatchObject({
      ...{ standing_id: id, tool: ids.update, session_id: 'session-1', calls: 2, used: 2, given_by: 'user:ann' },
      ...{ revoked_by: null, reason: 'A test.' },
    });

    const more = JSON.parse((await give(opened_, '--session', 'session-1')).output) as { standing_id: string };
    expect((await command(opened_, 'revoke', more.standing_id, '--as', 'user:eve')).code).toBe(1);
    expect((await command(opened_, 'revoke', more.standing_id, '--as', 'user:ann')).code).toBe(0);
    const last = ask(opened_, 'run-6');
    await decide(opened_, await asked(opened_, 4), 'refuse');
    await last;
    expect(await begun(opened_)).toEqual({ 'graph-update': 2 });
    expect(await opened_.metric('sluice_standing_approval_calls_total', { tool: 'graph-update' })).toBe(2);
    expect(await opened_.metric('sluice_standing_approvals_total', { action: 'give' })).toBe(2);
    expect(await unlike(opened_)).toEqual([]);
  }, 60_000);

  it('that an executor did not take has no effect, whatever stands on the log', async () => {
    const opened_ = await opened();
    const until = Date.now() + 3_600_000;
    const forged = make.standingApproval({
      ...{ standingId: 's-1', action: 'give', tool: ids.update, sessionId: 'session-1', until, decidedAt: 0 },
      ...{ decidedBy: 'user:ann', tenantId: 'local', at: Date.now() },
    });
    const publish = (standing: StandingApproval) =>
      opened_.bus.publish([{ topic: topics.approvals, key: 's-1', record: make.approval({ standing }) }]);
    await publish(forged);
    // None of these can be given.
    const refused = async (...words: string[]) => {
      const { code, output } = await give(opened_, ...words);
      return [code, (JSON.parse(output) as { status: string }).status];
    };
    expect(await refused('--session', 'session-1', '--as', 'user:eve')).toEqual([1, 'refused']);
    expect(await refused('--session', 'session-1', '--until', '30d')).toEqual([1, 'refused']);
    expect(await refused('--session', 'session-1', '--bounds', '{"amount": {"maximum": 1}}')).toEqual([1, 'refused']);
    expect(await refused('--session', 'session-1', '--tool', 'unheard-of')).toEqual([1, 'refused']);
    expect(await refused('--user', 'user:ann')).toEqual([1, 'refused']);
    const run = ask(opened_, 'run-1');
    await decide(opened_, await asked(opened_), 'refuse');
    await run;
    expect(await begun(opened_)).toEqual({});
  }, 60_000);

  it('lets no more calls through than it has, however many come at once, and counts each once', async () => {
    const opened_ = await opened();
    const { runtime } = opened_.embedded;
    const two = [new StandingApprovals(runtime), new StandingApprovals(runtime)];
    const now = Date.now();
    const one = {
      ...{ id: 's-1', tool: ids.update, bounds: null, session: 'session-1', user: '', until: now + 60_000, calls: 5 },
      ...{ givenBy: 'user:ann', givenAs: ['user:ann'], reason: '', givenAt: now, revoked: null },
    };
    expect(await two[0]?.give('t', one)).toBeNull();
    const used = await Promise.all(
      Array.from({ length: 32 }, (_, n) => (two[n % 2] as StandingApprovals).use('t', one, `call-${n % 16}`)),
    );
    expect(used.filter(Boolean)).toHaveLength(10);
    expect(await two[1]?.used('t', [one])).toEqual([5]);
    expect(await two[1]?.give('t', one)).toBeNull();
    expect(await two[1]?.give('t', { ...one, calls: 6 })).toBe('already_decided');
    expect(await two[1]?.revoke('t', 's-2', { by: 'user:ann', at: now, reason: '' })).toBe('unknown_standing');
  });
});
