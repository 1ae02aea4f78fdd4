import { setTimeout as delay } from 'node:timers/promises';
import { clockSkewMs, Fault } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { chainOf, checkpointKind, decodeHead, noHead } from '@sluice/audit';
import type { Head, SourcePosition } from '@sluice/audit';
import type { Bus, HandlerContext } from '@sluice/bus';
import type { Runtime } from '@sluice/host';

const retryMs = 1_000;

/** Where the chain stands that a record belongs to; `resumed` if that had to be looked for on agent.audit. */
interface ChainPosition {
  readonly head: Head;
  readonly resumed: boolean;
}

/**
 * The head that the partition carries. If it carries none, the chain is new, or the group’s place was lost (its
 * offsets expired or were reset): then what was written before is on agent.audit, and the chain goes on from there.
 */
export async function findHead(
  source: SourcePosition,
  context: HandlerContext,
  runtime: Runtime,
): Promise<ChainPosition> {
  const carried = decodeHead(context.carried);
  if (carried !== null) return { head: carried, resumed: false };
  const chain = chainOf(source);
  const head = await insist(() => lastOf(chain, source, runtime.bus), context, runtime);
  if (head === null) return { head: noHead, resumed: false };
  context.afterCommit(() => {
    runtime.metrics.auditBroken.inc();
    runtime.log.error(
      { chain, sequence: head.sequence, source_offset: head.offset },
      'the audit had lost its place in a chain and goes on behind the last entry that it found; find out who reset the group’s offsets',
    );
  });
  return { head, resumed: true };
}

/** The chain’s head as agent.audit has it; null if nothing is there. */
async function lastOf(chain: string, { offset, timestamp }: SourcePosition, bus: Bus): Promise<Head | null> {
  // A partition’s first record can only have an entry since the log took it; before a later one there may be more.
  const from = offset === 0 ? { time: timestamp - clockSkewMs } : 'start';
  let head: Head | null = null;
  for await (const { key, record } of bus.read([topics.audit], { from, onUndecodable: () => undefined })) {
    if (key !== chain || record.sequence <= (head?.sequence ?? 0)) continue;
    const { sequence, hash, sourceOffset, kind, at } = record;
    const covered: Pick<Head, 'checkpoint' | 'checkpointAt'> =
      kind === checkpointKind
        ? { checkpoint: sequence, checkpointAt: at }
        : (head ?? { checkpoint: 0, checkpointAt: 0 });
    const { checkpoint, checkpointAt } = covered;
    head = { sequence, hash, offset: sourceOffset, checkpoint, checkpointAt };
  }
  return head;
}

/** Until the log can be read, or nothing waits for it any more. */
async function insist<T>(work: () => Promise<T>, { signal }: HandlerContext, { log }: Runtime): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Fault && error.retryable) || signal.aborted) throw error;
      log.warn({ reason: error.message }, 'the audit cannot read what it wrote and waits for it');
      await delay(retryMs, undefined, { signal });
    }
  }
}
