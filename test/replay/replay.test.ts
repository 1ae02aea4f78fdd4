import { make } from '@sluice/contracts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { openArchive } from '@sluice/archive';
import type { Archive } from '@sluice/archive';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import type { Topic } from '@sluice/contracts';
import { newKeySet, readKeySet } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { changed, replayed } from './replaying.js';

const folder = join(import.meta.dirname, '../fixtures/released');
let archive: Archive;
let keys: KeySet;
beforeAll(async () => {
  archive = await openArchive(join(folder, '1.sluice'));
  keys = readKeySet(readFileSync(join(folder, '1.keys.json'), 'utf8'), 'the fixture');
});

type Changing<T extends Topic> = (record: Incoming<T>['record']) => Partial<Incoming<T>['record']>;

/** Changes the first record of the run on the topic that the condition holds for; says what is not equal then. */
async function after<T extends Topic>(topic: T, run: string, change: Changing<T>, n = 0) {
  let seen = 0;
  const tampered = changed(archive, (message) => {
    const { record } = message as Incoming<'agent.steps'>;
    if (message.topic !== topic || record.requestId !== run || seen++ !== n) return message;
    return { ...message, record: { ...record, ...change(record as Incoming<T>['record']) } } as Incoming;
  });
  return unequal(await replayed(tampered, keys));
}

async function approvalAfter(
  n: number,
  member: 'requested' | 'outcome',
  change: (value: Record<string, unknown>) => object,
) {
  let seen = 0;
  const tampered = changed(archive, (message) => {
    if (message.topic !== 'agent.approvals') return message;
    const value = message.record[member];
    if (value === null || seen++ !== n) return message;
    const record = {
      ...message.record,
      [member]: { ...value, ...change(value as unknown as Record<string, unknown>) },
    };
    return { ...message, record };
  });
  return unequal(await replayed(tampered, keys));
}

/** The log with another outcome of the run’s approval before each one that counted. */
function forgedBefore(run: string, forgery: object): LogReader {
  return {
    read: <T extends Topic>(topics: readonly T[], options: ReadOptions) =>
      (async function* () {
        for await (const message of archive.read(topics, options)) {
          const { outcome = null } = message.topic === 'agent.approvals' ? (message as ApprovalMessage).record : {};
          if (outcome?.requestId === run && outcome.notTaken === null) {
            const record = make.approval({ outcome: { ...outcome, ...forgery } });
            yield { ...message, offset: message.offset - 0.5, record, avro: null } as unknown as Incoming<T>;
          }
          yield message;
        }
      })(),
  };
}

type ApprovalMessage = Incoming<'agent.approvals'>;

/** `kind of run: path, path` for what differs, `kind of run: reason` for what cannot be replayed. */
function unequal(decisions: Awaited<ReturnType<typeof replayed>>): string[] {
  return decisions.flatMap(({ kind, requestId, outcome }) => {
    if (outcome.kind === 'equal') return [];
    const what = outcome.kind === 'different' ? outcome.differences.map(({ path }) => path).join(', ') : outcome.reason;
    return [`${kind} of ${requestId}: ${what}`];
  });
}

describe('a record that was changed is found, and what of it', () => {
  it('tools that were not offered', async () => {
    const found = await after('agent.toolsets', 'workflow', ({ tools }) => ({ tools: tools.slice(1) }));
    expect(found).toEqual([
      'tools of workflow: tools.knowledge-query, grant',
      expect.stringMatching(/^turn of workflow: offered\./),
    ]);
  });

  it.each([
    ['a reason why a tool is hidden', { hidden: [] }, 'hidden.'],
    ['how many are hidden', { hiddenCounts: {} }, 'hidden_counts.'],
    ['unknown groups', { unknownGroups: ['x'] }, 'unknown_groups.0'],
    ['the state', { state: 'analysis' }, 'state'],
    ['when it was decided', { decidedAt: 1 }, 'grant'],
  ])('%s', async (_, change, path) => {
    const found = await after('agent.toolsets', 'refused', () => change);
    expect(found[0]).toMatch(/^tools of refused: /);
    expect(found[0]).toContain(path);
  });

  it('a signature that is another’s, or missing', async () => {
    expect(await after('agent.toolsets', 'late', () => ({ grant: null }))).toEqual([]);
    expect(await after('agent.toolsets', 'no-tools', () => ({ grant: 'a.b.c' }))).toEqual(['tools of no-tools: grant']);
    expect((await after('agent.steps', 'budget', () => ({ signature: null }))).join()).toContain('signature');
    const others = unequal(await replayed(archive, newKeySet(1)));
    expect(others.filter((line) => line.startsWith('tools'))).toHaveLength(25);
    expect(others.filter((line) => line.startsWith('steps'))).toHaveLength(15);
    expect(unequal(await replayed(archive, null))).toEqual([]);
  });

  it('a tool that a turn had not been offered', async () => {
    const found = await after('agent.tool-calls', 'workflow', ({ offered }) => ({ offered: [...offered, 'core__x'] }));
    expect(found).toEqual([expect.stringMatching(/^turn of workflow: offered\.\d$/)]);
  });

  it('a state that no call led to', async () => {
    const found = await after('agent.steps', 'workflow', ({ steps }) => ({
      steps: steps.map((step) => ({ ...step, state: 'results' })),
    }));
    expect(found[0]).toMatch(/^steps of workflow: .*steps\.0\.state/);
  });

  it('a call that was made and had to be refused', async () => {
    const found = await after('agent.steps', 'refused', ({ steps }) => ({
      steps: steps.map((step) => ({ ...step, outcome: 'ok', reason: null })),
    }));
    expect(found[0]).toMatch(/steps\.0\.outcome/);
    for (const n of [1, 2, 3, 5]) expect(found[0]).toContain(`steps.${n}.outcome`);
  });

  it('a call that was refused and had to be made', async () => {
    const refused = { outcome: 'policy_denied', reason: 'not_allowed', observation: 'No.' };
    const found = await after('agent.steps', 'workflow', ({ steps }) => ({
      steps: steps.map((step) => ({ ...step, ...refused, state: step.stateBefore })),
    }));
    expect(found[0]).toContain('steps.0.outcome');
  });

  it('a call whose approval was refused and that was made all the same', async () => {
    const found = await after('agent.steps', 'approval-2', ({ steps }) => ({
      steps: steps.map((step) => ({ ...step, outcome: 'ok', reason: null })),
    }));
    expect(found[0]).toContain('steps.1.outcome');
  });

  it.each([
    ['an answer’s history', 'workflow', { history: [] }, 'history.0'],
    ['an error', 'endless', { error: { code: 'max_iterations', message: 'No.' } }, 'error.message'],
    ['an end out of time', 'late', { error: { code: 'size_exceeded', message: 'No.' } }, 'error.code'],
    ['an end by a dead letter', 'empty', { question: 'Another' }, 'question'],
  ])('%s', async (_, run, change, path) => {
    expect(await after('agent.responses', run, () => change as object)).toEqual([expect.stringContaining(path)]);
  });

  it('an approval’s request, and its outcome', async () => {
    const longer = await approvalAfter(0, 'requested', ({ expiresAt }) => ({ expiresAt: Number(expiresAt) + 1 }));
    expect(longer).toEqual(['approval asked of approval-1: requested.expires_at']);
    const anybody = await approvalAfter(0, 'outcome', () => ({ notTaken: null }));
    expect(anybody).toEqual(['approval judged of approval-1: outcome.not_taken']);
    const nobody = await approvalAfter(1, 'outcome', () => ({ notTaken: 'too_late' }));
    expect(nobody.join()).toContain('approval judged of approval-1: outcome.not_taken');
    expect(nobody.join()).toContain('whose outcome is not among the records');
  });
});

describe('services of two versions beside each other', () => {
  /**
   * The turns as a newer agent writes them, which counts tokens, and the steps as the released executor, which knows
   * of none.
   */
  const mixed = (writer: boolean): LogReader =>
    changed(archive, (message) => {
      if (message.topic === 'agent.steps' && !writer) return { ...message, writer: null };
      if (message.topic !== 'agent.tool-calls') return message;
      const run = { ...message.record.run, definitionTokens: 159 };
      return { ...message, record: { ...message.record, run }, writer: null };
    });
  const steps = async (writer: boolean) =>
    unequal(await replayed(mixed(writer), null)).filter((line) => line.startsWith('steps'));

  it('differ in no field that the writer of a record did not know', async () => {
    expect(await steps(true)).toEqual([]);
    expect((await steps(false)).join()).toContain('run.definition_tokens');
  });

  it('differ in what both know', async () => {
    const found = await after('agent.steps', 'workflow', () => ({ configVersion: 'another' }));
    expect(found.join()).toContain('steps of workflow');
  });
});

describe('a copy of a decision that came when its run was over', () => {
  /** The log with copies of the first decision, an hour after all else, and what the executor says of the copies. */
  const copied = (notTaken: string | null): LogReader => ({
    read: <T extends Topic>(topics: readonly T[], options: ReadOptions) =>
      (async function* () {
        let decided: ApprovalMessage | undefined;
        let outcome: ApprovalMessage | undefined;
        let last = 0;
        for await (const message of archive.read(topics, options)) {
          last = Math.max(last, message.timestamp);
          const approval = message as unknown as ApprovalMessage;
          if (message.topic === 'agent.approvals') {
            if (approval.record.decided !== null) decided ??= approval;
            if (approval.record.outcome !== null) outcome ??= approval;
          }
          yield message;
        }
        if (decided === undefined || outcome?.record.outcome == null) return;
        const later = { timestamp: last + 3_600_000, avro: null };
        yield { ...decided, ...later, offset: 90_000 } as unknown as Incoming<T>;
        const record = { ...outcome.record, outcome: { ...outcome.record.outcome, notTaken } };
        yield { ...outcome, ...later, offset: 90_001, record } as unknown as Incoming<T>;
      })(),
  });

  it('is not replayable where it changed nothing, and different where it was taken', async () => {
    expect(unequal(await replayed(copied('already_decided'), keys))).toEqual([
      expect.stringMatching(/^approval judged of approval-\d: It came after its run had ended/),
    ]);
    expect(unequal(await replayed(copied(null), keys))).toEqual([
      expect.stringMatching(/^approval judged of approval-\d: outcome\.not_taken/),
    ]);
  });
});

describe('an outcome that no executor wrote', () => {
  it.each([
    ['approval-1', 'refuse', 'user:ann'],
    ['approval-2', 'approve', 'user:bob'],
    ['approval-2', 'expire', 'service:executor'],
  ])('of %s, %s, is found, and its turn is judged by the one that counted', async (run, decision, decidedBy) => {
    const forging = forgedBefore(run, { decision, decidedBy, reason: 'Says eve.' });
    expect(unequal(await replayed(forging, keys))).toEqual([
      expect.stringMatching(`^approval judged of ${run}: (outcome\\.|What it was decided on)`),
    ]);
  });
});

describe('what is missing is said', () => {
  const without = async (is: (message: Incoming) => boolean) =>
    unequal(
      await replayed(
        changed(archive, (message) => (is(message) ? null : message)),
        keys,
      ),
    );

  it('a configuration, for each decision under it', async () => {
    const found = await without(({ topic }) => topic === 'agent.config');
    expect(
      found.filter((line) => /Its configuration c-\w+ is not among the records/.test(line)).length,
    ).toBeGreaterThan(40);
  });

  it.each([
    ['agent.requests', 'tools of full|end of late|tools of workflow'],
    ['agent.toolsets', 'turn of workflow'],
    ['agent.tool-calls', 'steps of workflow'],
    ['agent.steps', 'tools of workflow'],
  ])('records of %s', async (topic, decisions) => {
    const found = await without((message) => message.topic === topic);
    for (const decision of decisions.split('|'))
      expect(found).toContainEqual(
        expect.stringMatching(new RegExp(`^${decision}: What it was decided on, .* is not among`)),
      );
    expect(found.every((line) => line.includes('not among the records'))).toBe(true);
  });
});

describe('a selection', () => {
  it.each([
    ['a session', { session: 'session-budget' }, 3 + 2 + 2 + 1],
    ['offsets', { offsets: { topic: 'agent.toolsets', partition: 0, from: 3, to: 6 } as const }, 4],
    ['a tenant', { tenant: 'nobody' }, 0],
    ['a tool', { tool: ['reset-workflow', 'mcp__analysis__reset-workflow'], session: 'approval-1' }, 5 + 3],
    ['a time', { to: 1 }, 0],
  ])('of %s', async (_, selection, count) => {
    expect(await replayed(archive, keys, selection)).toHaveLength(count);
  });

  it('by time finds inputs from before it', async () => {
    const steps = [];
    for await (const { timestamp } of archive.read(['agent.steps'], { from: 'start' })) steps.push(timestamp);
    const some = await replayed(archive, keys, { from: steps[3] ?? 0 });
    expect(some.length).toBeGreaterThan(20);
    expect(unequal(some)).toEqual([]);
  });
});
