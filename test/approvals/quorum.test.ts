import { writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { topics } from '@sluice/contracts';
import type { ApprovalEscalated } from '@sluice/contracts';
import { ApprovalClaims } from '@sluice/run';
import {
  asked,
  begun,
  configured,
  decide,
  notTheSecond,
  outcomes,
  short,
  startRunning,
  threeCalls,
} from '../harness/approving.js';
import type { TestSystem } from '../harness/system.js';
import { replayed } from '../replay/replaying.js';

let system: TestSystem | undefined;
afterEach(async () => {
  await system?.close();
  system = undefined;
});

const people = "approvers: ['user:ann', 'user:bob', 'user:cem', 'user:local']";
const ruled = (rule: string, more = ''): string =>
  `{ ${people}${more}, rules: { twice: { tools: [reset-workflow], ${rule} } } }`;

async function running(approval: string): ReturnType<typeof startRunning> {
  const started = await startRunning(approval, [threeCalls]);
  system = started.opened;
  return started;
}

const by = (decidedBy: string) => ({ decidedBy });

async function escalations({ bus }: TestSystem): Promise<readonly ApprovalEscalated[]> {
  const found: ApprovalEscalated[] = [];
  for await (const { record } of bus.read([topics.approvals], { from: 'start' }))
    if (record.escalated !== null) found.push(record.escalated);
  return found;
}

async function configure(opened: TestSystem, approval: string): Promise<void> {
  const { configurations } = opened.embedded.runtime;
  const before = configurations.current().configuration.version;
  await writeFile(opened.configFile, configured(approval));
  while (configurations.current().configuration.version === before)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

describe('a rule that asks for two approvals', () => {
  it('lets the call run with the second person, each with an outcome; never the one who asked', async () => {
    const { opened, end } = await running(ruled('quorum: 2'));
    const first = await asked(opened);
    expect(first.requested).toMatchObject({
      rules: [{ rule: 'rule', name: 'twice', quorum: 2, onExpiry: 'refuse', escalatesAt: null }],
      askedBecause: 'The rule "twice" asks for the approvals of 2 persons of this call.',
      ...{ state: 'results', groups: ['*'], bound: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(await decide(opened, first, 'approve', by('user:local'))).toMatchObject({ notTaken: 'own_call' });
    expect(await decide(opened, first, 'approve', by('user:ann'))).toMatchObject({
      ...{ notTaken: null, stillNeeded: 1, rules: ['twice'], approvedBy: ['user:ann'] },
    });
    expect(await decide(opened, first, 'approve', by('user:ann'))).toMatchObject({ notTaken: 'already_decided' });
    expect(await begun(opened)).toEqual({ 'complex-analysis': 1 });
    expect(await decide(opened, first, 'approve', by('user:bob'))).toMatchObject({
      ...{ notTaken: null, stillNeeded: 0, approvedBy: ['user:ann', 'user:bob'] },
    });
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await decide(opened, first, 'approve', by('user:cem'))).toMatchObject({ notTaken: 'already_decided' });
    expect(await begun(opened)).toMatchObject({ 'reset-workflow': 1 });
    expect(await opened.metric('sluice_approvals_given_total')).toBe(1);
  });

  it('is refused by the first refusal, also by one who approved before', async () => {
    const { opened, end } = await running(ruled('quorum: 2'));
    const first = await asked(opened);
    await decide(opened, first, 'approve', by('user:ann'));
    expect(await decide(opened, first, 'refuse', by('user:ann'))).toMatchObject({ notTaken: null, stillNeeded: 0 });
    expect(await decide(opened, first, 'approve', by('user:bob'))).toMatchObject({ notTaken: 'already_decided' });
    expect(short((await end).history)[1]).toEqual(['reset-workflow', 'policy_denied', 'approval_refused', 'results']);
    expect(await begun(opened)).toEqual(notTheSecond);
  });

  it('counts approvals of a person for each rule that names it, and waits for all of them', async () => {
    const { opened, end } = await running(
      `{ ${people}, rules: { a: { tools: [reset-workflow], approvers: ['user:ann', 'user:bob'] }, b: { tools: [reset-workflow], approvers: ['user:bob', 'user:cem'] } } }`,
    );
    const first = await asked(opened);
    expect(await decide(opened, first, 'approve', by('user:ann'))).toMatchObject({ stillNeeded: 1, rules: ['a'] });
    expect(await decide(opened, first, 'approve', by('user:dan'))).toMatchObject({ notTaken: 'not_an_approver' });
    expect(await decide(opened, first, 'approve', by('user:bob'))).toMatchObject({ stillNeeded: 0, rules: ['a', 'b'] });
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
  });
});

describe('a rule that escalates', () => {
  it('lets others decide after a time, and says so on the log once', async () => {
    const { opened, end } = await running(
      `{ approvers: ['user:ann'], rules: { twice: { tools: [reset-workflow], escalate: { after_seconds: 3, to: ['user:boss'] } } } }`,
    );
    const first = await asked(opened);
    const { escalatesAt = null } = first.requested.rules[0] ?? {};
    expect(escalatesAt).toBe(first.requested.requestedAt + 3_000);
    expect(await decide(opened, first, 'approve', by('user:boss'))).toMatchObject({ notTaken: 'not_an_approver' });
    while ((await escalations(opened)).length === 0) await new Promise((resolve) => setTimeout(resolve, 200));
    const { approvalId, tool } = first.requested;
    expect(await escalations(opened)).toMatchObject([
      { approvalId, tool, rule: 'twice', to: ['user:boss'], at: escalatesAt },
    ]);
    expect(await decide(opened, first, 'approve', by('user:boss'))).toMatchObject({ notTaken: null });
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await opened.metric('sluice_approvals_escalated_total', { rule: 'twice' })).toBe(1);

    const [said] = await escalations(opened);
    if (said === undefined) throw new Error('It was said.');
    const { runtime } = opened.embedded;
    const claims = new ApprovalClaims(runtime);
    expect(await claims.isEscalated(said)).toBe(true);
    for (const change of [{ to: ['user:eve'] }, { at: said.at + 1 }, { tool: 'core__other' }, { rule: 'other' }])
      expect(await claims.isEscalated({ ...said, ...change })).toBe(false);
    // A former version attested the approval and the rule alone.
    const key = 'escalated/a-former/twice';
    await runtime.ledger.claim({ key, owner: 'service:executor', now: runtime.clock.now(), ttlMs: 60_000 });
    expect(await claims.isEscalated({ ...said, approvalId: 'a-former' })).toBe(true);
  }, 30_000);
});

describe('a rule whose time is up', () => {
  it('lets the call run where it says so, which the record says', async () => {
    const { opened, end } = await running(ruled('quorum: 2, expires_seconds: 2, on_expiry: run'));
    const first = await asked(opened);
    await decide(opened, first, 'approve', by('user:ann'));
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect((await outcomes(opened)).at(-1)).toMatchObject({
      ...{ decision: 'run', decidedBy: 'service:executor', notTaken: null, stillNeeded: 0 },
      reason: 'No decision came in time, and the rule "twice" lets the call run then.',
    });
    expect(await opened.metric('sluice_approvals_decided_total', { decision: 'run' })).toBe(1);
  }, 30_000);
});

describe('a rule that says otherwise meanwhile', () => {
  it('refuses the call when time is up, and asks no one again', async () => {
    const rule = 'expires_seconds: 3, on_expiry:';
    const { opened, end } = await running(ruled(`${rule} run`));
    await asked(opened);
    await configure(opened, ruled(`${rule} refuse`));
    expect(short((await end).history)[1]).toEqual(['reset-workflow', 'policy_denied', 'approval_expired', 'results']);
    expect(await outcomes(opened)).toMatchObject([{ decision: 'expire', reason: '' }]);
    expect(await begun(opened)).toEqual(notTheSecond);
    expect((await replayed(opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  }, 30_000);

  it('lets it run at the limit of the time for people, once', async () => {
    const rule = 'expires_seconds: 3600, on_expiry: run';
    const started = await startRunning(ruled(rule), [threeCalls], { limits: 'limits: { parked_seconds: 2 }' });
    system = started.opened;
    await asked(started.opened);
    expect((await started.end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await outcomes(started.opened)).toMatchObject([{ decision: 'run' }]);
    expect(await begun(started.opened)).toMatchObject({ 'reset-workflow': 1 });
    expect((await replayed(started.opened.bus, null)).filter(({ outcome }) => outcome.kind !== 'equal')).toEqual([]);
  }, 30_000);
});

describe('an approval of a call that became another one', () => {
  it('is asked for again where the rules ask for more meanwhile, and not where other things changed', async () => {
    const { opened, end } = await running(ruled('quorum: 1'));
    const first = await asked(opened);
    await configure(opened, ruled('quorum: 2'));
    expect(await decide(opened, first, 'approve', by('user:ann'))).toMatchObject({ notTaken: null, stillNeeded: 0 });
    const second = await asked(opened, 2);
    expect(second.requested.approvalId).not.toBe(first.requested.approvalId);
    expect(second.requested.argumentsHash).toBe(first.requested.argumentsHash);
    expect(await begun(opened)).toEqual({ 'complex-analysis': 1 });
    await configure(opened, ruled('quorum: 2', ', expires_seconds: 7200'));
    await decide(opened, second, 'approve', by('user:ann'));
    expect(await decide(opened, second, 'approve', by('user:bob'))).toMatchObject({ notTaken: null, stillNeeded: 0 });
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await begun(opened)).toMatchObject({ 'reset-workflow': 1 });
  });
});

describe('a rule on arguments', () => {
  const upTo = (length: number): string =>
    `{ ${people}, effects: [], rules: { long: { tools: [text-completion], unless: { prompt: { max_length: ${String(length)} } } } } }`;

  it('asks for a call that is beyond its bounds, and says which argument', async () => {
    const { opened, end } = await running(upTo(5));
    const first = await asked(opened);
    expect(first.requested).toMatchObject({
      ...{ rules: [{ name: 'long', quorum: 1 }], arguments: '{"prompt":"Say so"}' },
      askedBecause: expect.stringMatching(
        /^The rule "long" asks for an approval of this call\. The argument prompt is/,
      ),
    });
    await decide(opened, first, 'approve', by('user:ann'));
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
  });

  it('asks for none that is within them', async () => {
    const { opened, end } = await running(upTo(6));
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await opened.all('agent.approvals')).toEqual([]);
  });

  it('is about the calls of those whom it names, and about those of others their effect decides', async () => {
    const { opened, end } = await running(
      `{ ${people}, effects: [], rules: { mine: { tools: [text-completion], for: { channels: [mcp] } } } }`,
    );
    expect((await end).history.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'ok']);
    expect(await opened.all('agent.approvals')).toEqual([]);
  });
});
