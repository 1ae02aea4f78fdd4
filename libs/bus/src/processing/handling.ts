import type { Clock } from '@sluice/core';
import type { Codec, Topic } from '@sluice/contracts';
import type { BusLog, Dead, HandlerContext, Outgoing, Retry, Subscription } from '../port.js';
import { Carrying, keepsPartitionOrder } from './carrying.js';
import { deadLetter, deadOf } from './dead.js';
import { noLimits } from './limits.js';
import type { Limits } from './limits.js';
import { encodeAll, wholeSizeOf } from './outputs.js';
import type { Encoded } from './outputs.js';
import { dead as deadly, defaultRetry, judge, pause } from './retry.js';
import type { Death } from './retry.js';
import type { RetryLog } from './retry-log.js';
import type { Revocation } from './revocation.js';
import type { Room } from './slots.js';
import type { Opened } from './stored.js';
import { TurnAtWork } from './turn-at-work.js';

/**
 * A record that is through: its outputs and its acknowledgement are to go on the log as one. Of the record itself
 * only its place is kept.
 */
export interface Finished {
  readonly topic: Topic;
  readonly offset: number;
  /** In whose turn it was handled. */
  readonly tenant: string;
  readonly outputs: readonly Encoded[];
  /** Called after the commit, in order. */
  readonly afterCommit: readonly (() => void)[];
  /** What the partition carries from here on; '' where sessions are the order. */
  readonly carried: string;
  /** Whose the record’s credential was, null where that is not known; absent where the credential stays. */
  readonly credential?: Used;
}

/** A credential that is needed no longer. */
interface Used {
  readonly sender: string | null;
}

export interface HandlingOptions {
  readonly subscription: Subscription;
  readonly codec: Codec;
  readonly clock: Clock;
  /** How large outputs may be. */
  readonly limits?: Limits;
  readonly log: BusLog;
  readonly retries: RetryLog;
  readonly emit: (messages: readonly Outgoing[]) => void;
  /**
   * Room for records at work: of those in work, the ones that do not wait for what is elsewhere. Without it all may
   * be at work.
   */
  readonly working?: Room | undefined;
  /** Aborted when nothing new is to be begun: no further attempt, no waiting. */
  readonly stopping: AbortSignal;
}

/**
 * Runs the handler on one record until it is finished or dead. Null if its handling was abandoned: by `revocation` in
 * the middle of an attempt, or by `stopping` between two. `carried` is what the record before in its partition left.
 */
export async function handleRecord(
  opened: Opened,
  options: HandlingOptions,
  revocation: Revocation,
  carried = '',
): Promise<Finished | null> {
  const { subscription, codec, clock, retries, stopping } = options;
  const found = keepsPartitionOrder(subscription) ? carried : null;
  if (opened.message === null)
    return bury(opened, deadly(opened.fault.code, opened.fault.message), 1, options, revocation, found);
  for (let attempt = 1; ; attempt++) {
    const afterCommit: (() => void)[] = [];
    const carrying = new Carrying(found);
    const turn = new TurnAtWork(options.working, opened.tenant);
    const context = new Attempt(attempt, afterCommit, carrying, options, revocation, turn);
    try {
      await turn.take();
      // It may have waited for its turn until nothing new is begun.
      if (revocation.revoked || stopping.aborted) return null;
      const outputs = await subscription.handle(opened.message, context);
      if (revocation.revoked) return null;
      const { topic, offset } = opened.stored;
      const { used } = context;
      const finished = {
        ...{ topic, offset, tenant: opened.tenant },
        outputs: encodeAll(codec, outputs, options.limits),
        afterCommit,
        carried: carrying.left,
      };
      return used === undefined ? finished : { ...finished, credential: used };
    } catch (error) {
      if (revocation.revoked) return null;
      turn.end();
      const verdict = judge(error, attempt, subscription.retry ?? defaultRetry, clock.now());
      switch (verdict.kind) {
        case 'retry':
          retries.noticed(verdict.fault, opened.stored, attempt);
          context.reportRetry({ fault: verdict.fault, attempt, waitMs: verdict.waitMs });
          if (!(await pause(verdict.waitMs, stopping))) return null;
          break;
        case 'dead':
          return bury(opened, verdict, attempt, options, revocation, found);
      }
    } finally {
      turn.end();
    }
  }
}

async function bury(
  opened: Opened,
  death: Death,
  attempts: number,
  options: HandlingOptions,
  revocation: Revocation,
  found: string | null,
): Promise<Finished | null> {
  const { subscription, codec, log } = options;
  const { tenant } = opened;
  const { topic, offset } = opened.stored;
  const dead = deadOf(opened, death, attempts);
  const letters = subscription.deadLetters === false ? [] : lettersOf(dead, options);
  // Who only watches leaves it to who works on the record.
  const used = subscription.deadLetters === false ? {} : { credential: { sender: null } };
  const through = (): void => subscription.afterDead?.(dead);
  const afterCommit: (() => void)[] = [];
  const carrying = new Carrying(found);
  try {
    const more = await subscription.onDead?.(dead, new Attempt(attempts, afterCommit, carrying, options, revocation));
    if (revocation.revoked) return null;
    const outputs = [...letters, ...encodeAll(codec, more ?? [], options.limits)];
    const all = [through, ...afterCommit];
    return { topic, offset, tenant, outputs, afterCommit: all, carried: carrying.left, ...used };
  } catch (error) {
    if (revocation.revoked) return null;
    // The record must not be stuck for ever because telling of its end fails too.
    log('error', 'What was to follow a dead letter failed; the dead letter goes out alone.', {
      group: subscription.group,
      topic,
      partition: opened.stored.partition,
      offset,
      error: String(error),
    });
    return { topic, offset, tenant, outputs: letters, afterCommit: [through], carried: found ?? '', ...used };
  }
}

/** None where the topic does not take even a letter without what it tells of: it would be sent for ever. */
function lettersOf(dead: Dead, { codec, subscription: { group }, clock, limits = noLimits, log }: HandlingOptions) {
  const letter = deadLetter(codec, dead, group, clock.now(), limits);
  if (wholeSizeOf(letter) <= limits.of(letter.topic)) return [letter];
  const { topic, partition, offset, reason: error } = dead;
  log('error', `A record is dropped, and ${letter.topic} takes no dead letter of it. Raise its max.message.bytes.`, {
    ...{ group, topic, partition, offset, error },
  });
  return [];
}

/** One attempt on one record. A handler may take apart what it gets; what it does not ask for is not made. */
class Attempt implements HandlerContext {
  private listener: ((retry: Retry) => void) | undefined;

  constructor(
    readonly attempt: number,
    private readonly actions: (() => void)[],
    private readonly carrying: Carrying,
    private readonly options: HandlingOptions,
    private readonly revocation: Revocation,
    private readonly turn?: TurnAtWork,
  ) {}

  get signal(): AbortSignal {
    return this.revocation.signal;
  }

  get onRetry(): HandlerContext['onRetry'] {
    return (listener) => void (this.listener = listener);
  }

  reportRetry(retry: Retry): void {
    this.listener?.(retry);
  }

  get carried(): string {
    return this.carrying.carried;
  }

  get emit(): HandlerContext['emit'] {
    return (messages) => {
      if (!this.revocation.revoked) this.options.emit(messages);
    };
  }

  get aside(): NonNullable<HandlerContext['aside']> {
    const { turn } = this;
    return (wait) => (turn === undefined ? wait() : turn.aside(wait));
  }

  get afterCommit(): HandlerContext['afterCommit'] {
    return (action) => void this.actions.push(action);
  }

  used: Used | undefined;

  get credentialUsed(): HandlerContext['credentialUsed'] {
    return (sender) => void (this.used = { sender });
  }

  get carry(): HandlerContext['carry'] {
    return (text) => this.carrying.leave(text);
  }
}
