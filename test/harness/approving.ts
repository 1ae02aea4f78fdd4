import { make, topics } from '@sluice/contracts';
import type { AgentStep, ApprovalDecided, ApprovalOutcome, ApprovalRequested } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { calls, ids, workflowConfiguration } from './configurations.js';
import { inOrder, ScriptedModel, startSystem } from './system.js';
import type { Said, TestSystem } from './system.js';

/** The workflow under a policy with this `approval` (YAML). */
export function configured(
  approval: string,
  more: { limits?: string; allowed?: string; server?: string } = {},
): string {
  return workflowConfiguration(more).replace(/^policy:$/m, `policy:\n  approval: ${approval}`);
}

export const anyone = "{ approvers: ['*'] }";

/** One call before, the one that waits, one after. */
export const threeCalls: Said = {
  thought: 'Begin anew',
  calls: [calls.analysis, calls.reset, [ids.text, '{"prompt":"Say so"}']],
};
export const each = { 'complex-analysis': 1, 'reset-workflow': 1, 'text-completion': 1 };
export const notTheSecond = { 'complex-analysis': 1, 'text-completion': 1 };

/** All services, and a run under way whose model says these turns. */
export async function startRunning(approval: string, turns: readonly Said[], more: { limits?: string } = {}) {
  const opened = await startSystem(configured(approval, more), new ScriptedModel(inOrder(...turns)));
  const end = opened.ask({ group: ['*'], state: 'analysis', requestId: 'run-1', sessionId: 'session-1' });
  return { opened, end };
}

export function short(steps: readonly AgentStep[]) {
  return steps.map(({ action, outcome, reason, state }) => [action, outcome, reason, state]);
}

export interface Asked {
  readonly requested: ApprovalRequested;
  readonly message: Incoming<'agent.approvals'>;
}

const patience = (): AbortSignal => AbortSignal.timeout(120_000);

/** Waits for the n-th request for an approval of the whole log, from 1. */
export async function asked({ bus }: Pick<TestSystem, 'bus'>, n = 1): Promise<Asked> {
  let seen = 0;
  for await (const message of bus.read([topics.approvals], { from: 'start', follow: true, signal: patience() })) {
    const { requested } = message.record;
    if (requested !== null && ++seen === n) return { requested, message };
  }
  throw new Error(`Nobody asked for ${n} approvals within 2 minutes.`);
}

/** Publishes a decision, as anybody who can write the topic does; returns its outcome. */
export async function decide(
  { bus }: Pick<TestSystem, 'bus'>,
  { requested, message }: Asked,
  decision: string,
  changes: Partial<ApprovalDecided> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<ApprovalOutcome> {
  const { approvalId, requestId, sessionId, argumentsHash } = requested;
  const decided = make.approvalDecided({
    approvalId,
    requestId,
    sessionId,
    argumentsHash,
    decision,
    decidedBy: 'user:ann',
    reason: '',
    decidedAt: Date.now(),
    requestedPartition: message.partition,
    requestedOffset: message.offset,
    ...changes,
  });
  const before = (await outcomes({ bus })).length;
  await bus.publish([{ topic: topics.approvals, key: sessionId, record: make.approval({ decided }), headers }]);
  let seen = 0;
  for await (const { record } of bus.read([topics.approvals], { from: 'start', follow: true, signal: patience() }))
    if (record.outcome !== null && ++seen > before) return record.outcome;
  throw new Error('No executor judged the decision within 2 minutes.');
}

/** What came of the decisions so far. */
export async function outcomes({ bus }: Pick<TestSystem, 'bus'>): Promise<ApprovalOutcome[]> {
  const found: ApprovalOutcome[] = [];
  for await (const { record } of bus.read([topics.approvals], { from: 'start' }))
    if (record.outcome !== null) found.push(record.outcome);
  return found;
}

/** How often each tool was begun, by its key. */
export async function begun(system: TestSystem): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { record } of await system.all('agent.progress'))
    if (record.kind === 'tool_call_start') counts[record.tool ?? ''] = (counts[record.tool ?? ''] ?? 0) + 1;
  return counts;
}
