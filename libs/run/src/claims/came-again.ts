import { Fault, localPrincipal } from '@sluice/core';
import type { Verifier } from '@sluice/core';
import { positionOf, storyTopics, topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Bus, HandlerContext, Incoming } from '@sluice/bus';
import type { RunParts } from '../parts.js';
import { endSignature } from '../signing/ends.js';
import { verifyContinuation, verifyGrant, verifyRecord } from '../signing/grants.js';
import { ApprovalClaims } from './approvals.js';
import { publishedEnd } from './end-once.js';
import { claimOnce } from './once.js';
import { OnLog } from './on-log.js';
import type { Sought } from './on-log.js';
import { runOfEnd, runOfRecord } from './run-names.js';
import type { NamedRun } from './run-names.js';

type Looking = Pick<RunParts, 'bus' | 'ledger' | 'clock' | 'signatures' | 'log'>;

/** A record that a service took before, and how to tell the records that it led to. */
interface HandledRecord {
  readonly message: Pick<Incoming, 'topic' | 'partition' | 'offset' | 'timestamp'>;
  readonly run: NamedRun;
  readonly attempt: string | null;
  /** The sessions of what it leads to. */
  readonly sessions: readonly string[];
  /** Whether a record that says it is of the run, in that attempt, is what this one led to. */
  readonly led: (candidate: Incoming) => boolean;
  /** What the ledger has of it, which spares a reading of the log: true if a service took what this record led to. */
  readonly isTaken?: () => Promise<boolean>;
}

/**
 * Whether the record was handled to its end before, so that what it led to is on the log. A crash leaves claims and
 * no outputs: then the record is handled now. An operator who sets a group’s offsets back, or a log that loses them,
 * leaves both: then nothing more may come of it, or a run would have a second end.
 */
export async function wasHandled(before: HandledRecord, context: HandlerContext, runtime: Looking): Promise<boolean> {
  if (!(await isOnLog(before, runtime))) return false;
  context.afterCommit(() => reportSkipped(before.message, runtime));
  return true;
}

/**
 * The same for a record that is answered by one record of its own topic, under one of the keys, which `is`
 * recognises.
 */
export async function wasAnswered(
  message: Incoming,
  { keys, is }: Pick<Sought, 'keys' | 'is'>,
  context: HandlerContext,
  runtime: Looking,
): Promise<boolean> {
  const place = positionOf(message);
  const { isAgain } = await claimOnce(`judged/${place}`, place, runtime);
  if (!isAgain || context.attempt > 1) return false;
  const { topic, timestamp: since } = message;
  if (!(await onLogOf(runtime.bus).has({ topics: [topic], since, keys, is }))) return false;
  context.afterCommit(() => reportSkipped(message, runtime));
  return true;
}

async function isOnLog({ message, run, attempt, sessions, led, isTaken }: HandledRecord, runtime: Looking) {
  if ((await isTaken?.()) === true) return true;
  const end = await publishedEnd({ ...run, attempt }, runtime);
  if (
    end !== null &&
    (!goesOnBehindEnds(message.topic) || end === `${message.topic}/${message.partition}/${message.offset}`)
  )
    return true;
  return onLogOf(runtime.bus).has({
    topics: storyTopics,
    since: message.timestamp,
    keys: sessions,
    is: async (candidate) => led(candidate) && isOf(candidate, run, attempt) && (await isGenuine(candidate, runtime)),
  });
}

/** What an executor has begun becomes a step, also behind the run’s end. */
function goesOnBehindEnds(topic: Topic): boolean {
  return (
    topic === topics.calls || topic === topics.toolCalls || topic === topics.approvals || topic === topics.responses
  );
}

function isOf(candidate: Incoming, { requestId, tenant }: NamedRun, attempt: string | null): boolean {
  const isRun = (named: NamedRun): boolean =>
    named.requestId === requestId && (named.tenant ?? localPrincipal.tenantId) === (tenant ?? localPrincipal.tenantId);
  switch (candidate.topic) {
    case 'agent.toolsets':
    case 'agent.tool-calls':
      return isRun(runOfRecord(candidate.record)) && candidate.record.run.redrive === attempt;
    case 'agent.steps': {
      const { run } = candidate.record;
      // The beginning of a sub-agent’s run is of the run that called it.
      if (candidate.record.requestId !== requestId && run.parent !== null)
        return isRun({ requestId: run.parent.requestId, tenant: run.principal?.tenantId ?? null });
      return isRun(runOfRecord(candidate.record)) && run.redrive === attempt;
    }
    case 'agent.responses':
      return isRun(runOfEnd(candidate.record)) && (candidate.record.run?.redrive ?? null) === attempt;
    case 'agent.approvals': {
      const { requested } = candidate.record;
      return requested !== null && isRun({ requestId: requested.requestId, tenant: requested.tenantId });
    }
    default:
      return false;
  }
}

/** Whether a service wrote the record: a forged one must not stand for what a record led to. */
async function isGenuine(candidate: Incoming, runtime: Looking & { readonly signatures: Verifier }): Promise<boolean> {
  try {
    switch (candidate.topic) {
      case 'agent.toolsets':
      case 'agent.tool-calls':
        await verifyGrant(candidate.record, runtime);
        await verifyRecord(candidate, runtime);
        return true;
      case 'agent.steps':
        // Which a turn that the filter takes back is not; a call in one hop goes on with nothing.
        if (candidate.record.call === null) await verifyContinuation(candidate.record, runtime);
        await verifyRecord(candidate, runtime);
        return true;
      case 'agent.responses':
        return (await endSignature(candidate, runtime.signatures)) !== null;
      case 'agent.approvals':
        return (
          candidate.record.requested !== null &&
          (await new ApprovalClaims(runtime).isVouched(candidate.record.requested))
        );
      default:
        return false;
    }
  } catch (error) {
    if (error instanceof Fault && !error.retryable) return false;
    throw error;
  }
}

const readers = new WeakMap<Bus, OnLog>();

function onLogOf(bus: Bus): OnLog {
  const known = readers.get(bus) ?? new OnLog(bus);
  readers.set(bus, known);
  return known;
}

/**
 * How often a line says that records come again, of each topic, milliseconds: a group that is set back brings
 * thousands.
 */
const everyMs = 10_000;
const lastReports = new WeakMap<object, Map<Topic, { at: number; unreported: number }>>();

function reportSkipped(
  { topic, partition, offset }: HandledRecord['message'],
  { log, clock }: Pick<Looking, 'log' | 'clock'>,
): void {
  const ofLog = lastReports.get(log) ?? new Map<Topic, { at: number; unreported: number }>();
  lastReports.set(log, ofLog);
  const { at, unreported } = ofLog.get(topic) ?? { at: -Infinity, unreported: 0 };
  const now = clock.now();
  if (now - at < everyMs) return void ofLog.set(topic, { at, unreported: unreported + 1 });
  ofLog.set(topic, { at: now, unreported: 0 });
  const about = { topic, partition, offset, more: unreported };
  log.info(about, 'skipped a record that was handled before: the offsets of its group were set back, or lost');
}

/** What a request leads to: its first turn, or its end. */
export function ledByRequest({ topic }: Incoming): boolean {
  return topic === topics.toolsets || topic === topics.responses;
}

/**
 * What a request leads to that makes one call itself: its step and the run’s end, or a turn that waits. Of one that
 * had begun to act, an end alone says nothing: a filter may have ended an overdue run.
 */
export function ledByCall(hasActed: boolean): HandledRecord['led'] {
  return ({ topic, record }) => {
    if (topic === topics.responses) return !hasActed;
    return topic === topics.toolCalls || (topic === topics.steps && record.call !== null);
  };
}

/** What a Toolset leads to: the turn’s calls, or the run’s end. */
export function ledByToolset(iteration: number): HandledRecord['led'] {
  return (candidate) =>
    candidate.topic === topics.responses ||
    (candidate.topic === topics.toolCalls && candidate.record.iteration === iteration);
}

/** What a turn’s end leads to: the Toolset of that iteration, or the run’s end. */
export function ledBySteps(iteration: number): HandledRecord['led'] {
  return (candidate) =>
    candidate.topic === topics.responses ||
    (candidate.topic === topics.toolsets && candidate.record.iteration === iteration);
}

/**
 * What a turn leads to that goes on from the call at `from`: its end, or a call behind that it waits for. The run’s
 * end says nothing: a filter may have ended an overdue run, and what its turn did becomes a step all the same.
 */
export function ledByTurn(turn: Incoming<'agent.tool-calls'>, from: number): HandledRecord['led'] {
  const { iteration } = turn.record;
  return (candidate) => {
    switch (candidate.topic) {
      case 'agent.approvals': {
        const { requested } = candidate.record;
        if (requested === null || requested.behind !== null) return false;
        return requested.iteration === iteration && requested.index >= from;
      }
      case 'agent.steps': {
        const { parent } = candidate.record.run;
        if (candidate.record.requestId === turn.record.requestId) return candidate.record.iteration === iteration;
        return parent?.partition === turn.partition && parent.offset === turn.offset && parent.index >= from;
      }
      default:
        return false;
    }
  };
}
