import { claimMemoryMs, isSecurityFault } from '@sluice/core';
import { loopServices, positionOf, requestIds, topics } from '@sluice/contracts';
import type { AgentRequest } from '@sluice/contracts';
import type { Incoming, Outgoing } from '@sluice/bus';
import { isAgentRunId } from '../agent-runs.js';
import { isClosing } from '../approvals/open.js';
import { requestProblem, returnedTurn } from '../filter.js';
import type { RunIds } from '../filter.js';
import type { Letter } from './letters.js';
import type { Permit, RedriveKind } from './permit.js';

/** What a redrive would do, or why there is none. */
export type Plan =
  | {
      readonly kind: RedriveKind;
      readonly message: Outgoing;
      readonly owner: string;
      readonly since: number;
      /** In words, for the operator. */
      readonly means: string;
    }
  | { readonly kind: 'refused'; readonly why: string };

export interface PlanFacts {
  /** Whether the configuration in force asks for credentials. */
  readonly identity: boolean;
  /** Whether the ledger says whose a call is, since it had begun to act: then it needs no credential. */
  readonly isAskerKept: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The permit with which this record was re-driven itself, before it failed again; else null. */
  readonly before: Permit | null;
}

/** Room for a re-driven record to be taken while what its turn did is still remembered, milliseconds. */
const queueMs = 24 * 3_600_000;

/** Whether a dead letter can be re-driven now, and how: a pure function of the letter and what is known. */
export function planRedrive({ dead, content }: Letter, facts: PlanFacts): Plan {
  if (content.topic === 'agent.notifications') return planNotification(dead, content, facts);
  // What a service off the loop could not process leaves its run as it is.
  if (!(loopServices as readonly string[]).includes(dead.group))
    return refused(
      `It was dead-lettered by ${dead.group}, which takes no part in the run: the run went on without it.`,
    );
  if (dead.code === 'replayed')
    return refused('It is a copy of a record that was taken: its run went on with that one.');
  if (content.topic === null) return refused(`It still cannot be read: ${content.reason}`);

  const { key } = dead;
  const resumes = isSecurityFault(dead.code) || dead.code === 'undecodable';
  const chained = facts.before !== null && facts.before.kind !== 'resume' ? facts.before : null;
  const since = chained?.since ?? dead.timestamp;
  const owner = chained?.owner ?? positionOf(dead);
  if (!resumes && mayHaveActed(content.topic) && since + claimMemoryMs - queueMs <= facts.now)
    return refused(
      'Its turn may have called tools, and what they did is remembered for a week only. Ask under a new request_id instead.',
    );

  const plan = (kind: RedriveKind, message: Outgoing, means: string): Plan => ({ kind, message, owner, since, means });
  switch (content.topic) {
    case 'agent.requests':
    case 'agent.calls': {
      const ids = requestIds({ ...dead, topic: content.topic }, content.record);
      const record = { ...content.record, ...ids };
      const why = whyNotAsked(ids, record, facts);
      if (why !== null) return refused(why);
      return plan('attempt', { topic: content.topic, key: key || record.sessionId, record }, 'the run begins again');
    }
    case 'agent.toolsets': {
      if (resumes) return plan('resume', { ...content, key }, 'the agent takes it as if it came now');
      const why = timeOf(content.record.requestId, content.record.request, facts);
      if (why !== null) return refused(why);
      const message = { topic: topics.steps, key, record: returnedTurn(content.record) };
      return plan('again', message, 'the filter decides the turn again');
    }
    case 'agent.tool-calls': {
      if (resumes) return plan('resume', { ...content, key }, 'the executor takes it as if it came now');
      const why = timeOf(content.record.requestId, content.record.request, facts);
      if (why !== null) return refused(why);
      return plan('attempt', { ...content, key }, 'the turn is gone through again; what it did is not done twice');
    }
    case 'agent.steps': {
      if (resumes && chained === null)
        return plan('resume', { ...content, key }, 'the filter takes it as if it came now');
      const why = timeOf(content.record.requestId, content.record.next, facts);
      if (why !== null) return refused(why);
      return plan(chained?.kind ?? 'attempt', { ...content, key }, 'the run goes on from there');
    }
    case 'agent.approvals': {
      const { outcome } = content.record;
      if (resumes || outcome === null || !isClosing(outcome))
        return refused('The call waits where it was: decide on it (again) with "sluice approvals".');
      return plan('attempt', { ...content, key }, 'the turn goes on with what was decided');
    }
    case 'agent.responses': {
      if (!isAgentRunId(content.record.requestId)) return refused('No run goes on with the end of this one.');
      if (resumes) return plan('resume', { ...content, key }, 'the executor takes it as if it came now');
      return plan('attempt', { ...content, key }, 'the turn that waited for this end of an agent goes on with it');
    }
    default:
      return refused(`Nothing on the loop reads ${content.topic}.`);
  }
}

/** It goes to its subscription alone, with the id of the first attempt. */
function planNotification(
  dead: Letter['dead'],
  content: Extract<Letter['content'], { topic: 'agent.notifications' }>,
  { now }: PlanFacts,
): Plan {
  const since = dead.timestamp;
  if (isSecurityFault(dead.code)) return refused('No notifier wrote it, or not within a week: it is not sent.');
  if (content.record.at + claimMemoryMs <= now)
    return refused('What notifiers wrote is remembered for a week, which is over: it is not sent any more.');
  const means = `it is sent to ${content.record.subscription} again`;
  const message = { ...content, key: dead.key };
  return { kind: 'resume', message, owner: positionOf(dead), since, means };
}

function refused(why: string): Plan {
  return { kind: 'refused', why };
}

function whyNotAsked(ids: RunIds, request: AgentRequest, facts: PlanFacts): string | null {
  if (request.question.trim() === '')
    return 'Its question is empty, which no redrive changes. Ask under a new request_id.';
  const problem = requestProblem(ids, request);
  if (problem !== null) return `No redrive changes what it asks; ask under a new request_id. ${problem}`;
  if (facts.identity && !facts.isAskerKept)
    return 'Its credential was not kept, so the caller is unknown. The caller can send it again under a new request_id.';
  return timeIsUp(request, facts);
}

function timeIsUp({ deadline }: AgentRequest, { now }: PlanFacts): string | null {
  if (deadline === null || now < deadline) return null;
  return `The request wanted its answer by ${new Date(deadline).toISOString()}. Ask under a new request_id with a later deadline.`;
}

/**
 * The same for a turn. A run waits for an agent’s, so the agent may come to its end though its time is over: then
 * that is its end.
 */
function timeOf(requestId: string, asked: AgentRequest, facts: PlanFacts): string | null {
  return isAgentRunId(requestId) ? null : timeIsUp(asked, facts);
}

/** Whether a record of the topic makes calls, which its run must remember to not make them twice. */
export function mayHaveActed(topic: Incoming['topic']): boolean {
  return (
    topic === 'agent.calls' ||
    topic === 'agent.tool-calls' ||
    topic === 'agent.approvals' ||
    topic === 'agent.responses'
  );
}
