import type { Verifier } from '@sluice/core';
import { make, asWrittenWith, recordNames, recordToJson, redriveHeader } from '@sluice/contracts';
import type { Codec, RecordOf, Topic } from '@sluice/contracts';
import type { Incoming, LogReader } from '@sluice/bus';
import { deriveAgentEnd, deriveDeadEnd, deriveTurn } from './agent.js';
import { deriveOutcome } from './approvals.js';
import { deriveReturned } from './attempts.js';
import type { AuthorizerOf } from './calls.js';
import { codecForComparing } from './codec.js';
import { RecordedConfigurations } from './configurations.js';
import { differences } from './differences.js';
import type { Difference } from './differences.js';
import { isAgentBeginning } from './agent-runs.js';
import { deriveApprovalRequest } from './executor/park.js';
import { deriveBeginning } from './executor/hand-over.js';
import { deriveSteps } from './executor/turn.js';
import { deriveFilterEnd, deriveToolset } from './filter.js';
import { NotReplayable } from './outcome.js';
import { deriveCallEnd, deriveOwnTurn, isOfOwnCall } from './own-call.js';
import type { DecisionKind, Outcome, Replayed } from './outcome.js';
import { overRuns, startingWith } from './over-runs.js';
import type { Reading, Threads } from './over-runs.js';
import type { DeadLetters, RunRecords } from './run-records.js';
import { isSelected } from './select.js';
import type { DecisionSelection } from './select.js';
import {
  callGrantDifference,
  continuationDifference,
  endDifference,
  grantDifference,
  keysNotHere,
  recordDifference,
} from './signed.js';
import type { ReplayJob } from './threads/replay-job.js';
import type { RunWork } from './work.js';

/** What decides once more; the same in every thread. */
export interface Replaying {
  readonly selection: DecisionSelection;
  /** With every key that ever signed; without keys it reads what was signed, and that is compared alone. */
  readonly verifier: Verifier;
  readonly authorizerOf: AuthorizerOf;
}

interface ReplayOptions extends Replaying, Reading {
  /** What else may work on it; null: this thread alone. */
  readonly threads?: Threads<ReplayJob> | null;
}

/**
 * Decides everything in the selection once more, from its recorded inputs and under its recorded configuration, by
 * the functions that the services decide with, and says whether the bytes are the same. Nothing is run and no model
 * is asked.
 */
export async function* replay(reader: LogReader, options: ReplayOptions): AsyncGenerator<Replayed, void, undefined> {
  const { selection, threads = null } = options;
  const configurations = await RecordedConfigurations.read(reader, options, options.verifier);
  const job = { kind: 'replay', selection, configurations: configurations.recorded } as const;
  yield* overRuns(
    reader,
    options,
    await replaying(configurations, options),
    threads === null ? null : startingWith(threads, job),
  );
}

export async function replaying(
  configurations: RecordedConfigurations,
  { selection, ...options }: Replaying,
): Promise<RunWork<Replayed>> {
  const judge = new Judge(await codecForComparing(), configurations, options);
  return async (run, dead, found) => {
    for (const message of decisionsOf(run))
      if (isSelected(message, run, selection, configurations)) found.push(await judge.judge(message, run, dead));
  };
}

/** The records of a run that hold decisions, in the order of its way. */
export function decisionsOf(run: RunRecords): readonly Incoming[] {
  const { toolsets, calls, approvals, begun, responses } = run;
  // That others may decide too, the time alone says.
  const made = approvals.filter(({ record }) => record.decided === null && record.escalated === null);
  // How this run began, where it is an agent’s, was decided in the run that called it.
  const steps = run.steps.filter((message) => !isAgentBeginning(message));
  return [...toolsets, ...calls, ...made, ...begun, ...steps, ...responses];
}

class Judge {
  constructor(
    private readonly codec: Codec,
    private readonly configurations: RecordedConfigurations,
    private readonly options: Omit<Replaying, 'selection'>,
  ) {}

  async judge(message: Incoming, run: RunRecords, dead: DeadLetters): Promise<Replayed> {
    const { topic, partition, offset, key: sessionId } = message;
    const unknownKeys = keysNotHere(message, this.options.verifier);
    const place = { topic, partition, offset, requestId: run.requestId, sessionId, unknownKeys };
    try {
      return { ...place, ...(await this.outcome(message, run, dead)) };
    } catch (error) {
      if (!(error instanceof NotReplayable)) throw error;
      return { ...place, kind: kindOf(message), outcome: { kind: 'not_replayable', reason: error.message } };
    }
  }

  private async outcome(
    message: Incoming,
    run: RunRecords,
    dead: DeadLetters,
  ): Promise<{ readonly kind: DecisionKind; readonly outcome: Outcome }> {
    const configurations = this.configurations.ofRun(run);
    const { verifier, authorizerOf } = this.options;
    const deriving = { configurations, authorizerOf, verifier };
    const kind = kindOf(message);
    switch (message.topic) {
      case 'agent.toolsets': {
        const derived = deriveToolset(message, run, configurations);
        const compared = this.compare(message, derived, 'the request or the turn before it');
        const signed = [
          await grantDifference(message.record, verifier),
          await recordDifference(message, 'filter', verifier),
        ];
        return { kind, outcome: withSigned(compared, signed) };
      }
      case 'agent.tool-calls': {
        const { record } = message;
        if (isOfOwnCall(record)) {
          const compared = this.compare(message, deriveOwnTurn(record, run, configurations), 'its request');
          const signed = [
            await callGrantDifference(record, verifier),
            await recordDifference(message, 'call', verifier),
          ];
          return { kind, outcome: withSigned(compared, signed) };
        }
        const compared = this.compare(message, deriveTurn(message, run, configurations), 'its Toolset');
        return { kind, outcome: withSigned(compared, [await recordDifference(message, 'agent', verifier)]) };
      }
      case 'agent.steps': {
        if (isAgentBeginning(message)) {
          const compared = this.compare(
            message,
            await deriveBeginning(message, run, deriving),
            'the ToolCall that waits',
          );
          return { kind, outcome: withSigned(compared, await this.signedByExecutor(message)) };
        }
        const returned = await deriveReturned(message, run, configurations, verifier);
        if (returned !== null) {
          const compared = this.compare(message, returned, 'the turn that came back');
          // Who re-drives a turn has no key to sign it with; the ledger has a digest of it.
          const isRedriven = message.headers[redriveHeader] !== undefined;
          const signed = isRedriven ? [] : [await recordDifference(message, 'filter', verifier)];
          return { kind, outcome: withSigned(compared, signed) };
        }
        const isCall = isOfOwnCall(message.record);
        const from = isCall ? 'its request' : 'its ToolCall';
        const compared = this.compare(message, await deriveSteps(message, run, deriving), from);
        if (isCall) return { kind, outcome: withSigned(compared, [await recordDifference(message, 'call', verifier)]) };
        return { kind, outcome: withSigned(compared, await this.signedByExecutor(message)) };
      }
      case 'agent.responses': {
        // A signature is not derived but verified, below.
        const { recordSignature } = message.record;
        const signed = <Derived extends object>(one: Derived) => ('endedAt' in one ? { ...one, recordSignature } : one);
        const others = [
          ...deriveCallEnd(message, run, configurations),
          ...deriveAgentEnd(message, run, configurations),
          ...deriveDeadEnd(message, run, dead),
        ].map(signed);
        const [found, ...more] = others;
        const own = found !== undefined && more.length === 0 && this.same(message, asItsWriter(message, found));
        const all = own ? others : [...others, ...deriveFilterEnd(message, run, configurations).map(signed)];
        const compared = this.compare(message, all, 'the record that it ended the run with');
        return {
          kind,
          outcome: withSigned(compared, [await endDifference(message, [...run.toolsets, ...run.steps], verifier)]),
        };
      }
      case 'agent.approvals': {
        const { requested, outcome } = message.record;
        if (requested !== null) {
          const asked = (await deriveApprovalRequest(requested, run, deriving)).map((one) =>
            'refused' in one ? one : make.approval({ requested: one }),
          );
          return { kind, outcome: this.compare(message, asked, 'the ToolCall that waits') };
        }
        const judged = outcome === null ? [] : deriveOutcome(outcome, run, configurations);
        const derived = judged.map((one) => make.approval({ outcome: one }));
        return { kind, outcome: this.compare(message, derived, 'the decision or the question') };
      }
      default:
        throw new Error(`Records of ${message.topic} are not replayed.`);
    }
  }

  private async signedByExecutor(message: Incoming<'agent.steps'>): Promise<readonly (Difference | null)[]> {
    const { verifier } = this.options;
    return [
      await continuationDifference(message.record, verifier),
      await recordDifference(message, 'executor', verifier),
    ];
  }

  /** Against each record that it can have followed: one that gives the same bytes is the one it followed. */
  private compare(message: Incoming, decided: readonly object[], from: string): Outcome {
    const { topic, record } = message;
    const derived = decided.map((one) => asItsWriter(message, one));
    if (derived.length === 0)
      return { kind: 'not_replayable', reason: `What it was decided on, ${from}, is not among the records.` };
    if (derived.some((one) => this.same(message, one))) return { kind: 'equal' };
    // The record that it was most likely meant to follow.
    const all = derived.map((one) => named(topic, record, one));
    return { kind: 'different', differences: all.reduce((few, more) => (more.length < few.length ? more : few)) };
  }

  /** To the byte: as the log has it or, where that is of an earlier schema, as it would be written today. */
  private same({ topic, record, avro = null }: Incoming, derived: object): boolean {
    if (!isOfTopic(topic, derived)) return false;
    const bytes = this.codec.encode(topic, derived);
    const known = avro !== null && this.codec.avro(topic, bytes)?.equals(avro);
    return known === true || bytes.equals(this.codec.encode(topic, record));
  }
}

/** What a former version wrote says nothing of fields that it did not know: those are not compared. */
function asItsWriter({ topic, writer = null }: Incoming, derived: object): object {
  return writer === null || !isOfTopic(topic, derived) ? derived : asWrittenWith(topic, writer, derived);
}

/** A decision can turn out as another kind of record: tools where the run ended, an end where there were tools. */
function isOfTopic<T extends Topic>(topic: T, record: object): record is RecordOf<T> {
  if (topic === 'agent.toolsets') return 'hiddenCounts' in record;
  if (topic === 'agent.responses') return 'endedAt' in record;
  return !('refused' in record);
}

function named(topic: Topic, recorded: object, derived: object): readonly Difference[] {
  if (isOfTopic(topic, derived)) {
    const name = recordNames[topic];
    return differences(recordToJson(name, recorded), recordToJson(name, derived));
  }
  const is =
    'error' in derived ? JSON.stringify(derived.error) : 'refused' in derived ? String(derived.refused) : 'tools';
  return [{ path: '(all)', was: recordNames[topic], is }];
}

function withSigned(outcome: Outcome, signed: readonly (Difference | null)[]): Outcome {
  const found = signed.filter((difference) => difference !== null);
  if (found.length === 0 || outcome.kind === 'not_replayable') return outcome;
  const others = outcome.kind === 'different' ? outcome.differences : [];
  return { kind: 'different', differences: [...others, ...found] };
}

function kindOf(message: Incoming): DecisionKind {
  switch (message.topic) {
    case 'agent.toolsets':
      return 'tools';
    case 'agent.tool-calls':
      return 'turn';
    case 'agent.steps':
      return isAgentBeginning(message) ? 'agent begun' : 'steps';
    case 'agent.approvals':
      return message.record.requested === null ? 'approval judged' : 'approval asked';
    case 'agent.responses':
      return 'end';
    default:
      throw new Error(`Records of ${message.topic} are not replayed.`);
  }
}
