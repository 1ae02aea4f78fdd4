import { setTimeout as delay } from 'node:timers/promises';
import type { AssistantStreamChunk } from 'assistant-stream';
import { Busy } from '@sluice/host';
import type { WaitingApproval } from '@sluice/projection';
import type { ApprovalProgress } from '../approval-progress.js';

/** So often a follower looks at the list; all of a tenant share what is read. */
const lookMs = 500;
/** So often something is sent at least, for proxies that close what is silent. */
const keepAliveMs = 15_000;

/** A call that waits, and what the caller may decide. */
export interface Waiting {
  readonly approval: WaitingApproval['asked'];
  readonly decisions: readonly string[];
  readonly progress: ApprovalProgress;
}

/**
 * The calls that wait as data of the assistant transport format: each one once (`waiting`), those that are there
 * first; it again (`changed`) with each approval of several and when others may decide too; and each that waits no
 * longer (`closed`), however that came. `look` gives the calls that wait now, null
 * where the caller may not see them any more, and `describe` those that are new as the list has them. Ends with the
 * caller’s right, and with the signal.
 */
export async function* approvalEvents(
  look: () => Promise<readonly Waiting[] | null>,
  describe: (waiting: readonly Waiting[]) => Promise<readonly Waiting[]>,
  signal: AbortSignal,
): AsyncGenerator<AssistantStreamChunk, void, undefined> {
  let told: ReadonlyMap<string, string> = new Map();
  let silentMs = 0;
  while (!signal.aborted) {
    const now = await look();
    if (now === null) return;
    const ids = new Map(now.map((one) => [one.approval.approval_id, JSON.stringify([one.decisions, one.progress])]));
    const isTold = (id: string): boolean => told.get(id) === ids.get(id);
    const coming = await describe(now.filter(({ approval }) => !isTold(approval.approval_id)));
    const events = [
      ...coming.map((one) => ({ type: told.has(one.approval.approval_id) ? 'changed' : 'waiting', ...one })),
      ...[...told.keys()].filter((id) => !ids.has(id)).map((id) => ({ type: 'closed', approval_id: id })),
    ];
    told = ids;
    silentMs += lookMs;
    if (events.length > 0 || silentMs >= keepAliveMs) {
      silentMs = 0;
      yield { type: 'data', path: [], data: events as Extract<AssistantStreamChunk, { type: 'data' }>['data'] };
    }
    await delay(lookMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Who follows the list of approvals through this gateway: not too many, and none of them holds up its end. */
export class ApprovalFollowers {
  private readonly open = new Set<AbortController>();
  private readonly read = new Map<
    string,
    { readonly at: number; readonly found: Promise<readonly WaitingApproval[]> }
  >();
  private stopped = false;

  /** `most`: followers at a time. */
  constructor(private readonly most: number) {}

  /**
   * One more follower: its signal ends it when the gateway is stopped; abort it when its reader goes away. Throws
   * Busy beyond the limit.
   */
  follow(): AbortController {
    if (this.open.size >= this.most)
      throw new Busy(`This gateway has ${this.most} streams of approvals already. Try again in a moment.`);
    const follower = new AbortController();
    this.open.add(follower);
    follower.signal.addEventListener('abort', () => this.open.delete(follower), { once: true });
    if (this.stopped) follower.abort();
    return follower;
  }

  /** What waits in a tenant, read at most every half second however many follow. */
  waiting(
    tenant: string,
    now: number,
    read: () => Promise<readonly WaitingApproval[]>,
  ): Promise<readonly WaitingApproval[]> {
    for (const [key, { at }] of this.read) if (now - at >= lookMs || now < at) this.read.delete(key);
    const shared = this.read.get(tenant) ?? { at: now, found: read() };
    this.read.set(tenant, shared);
    return shared.found;
  }

  close(): void {
    this.stopped = true;
    for (const follower of [...this.open]) follower.abort();
  }
}
