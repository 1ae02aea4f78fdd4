import { topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import type { HandlerContext, Retry } from '@sluice/bus';
import { noLongerWaiting, noteWaiting } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/** A shorter wait behind a short attempt is over before anybody asks. */
const shortMs = 500;

/** So often it is kept beside the log: it says since when, and the log of an outage must not become a load on the ledger. */
const timesKept = 5;

type Told = Pick<Runtime, 'clock' | 'documents' | 'log'>;

/** Tells the followers of a run that its model could not be had, why, and when it is asked again. */
export class RetryTold {
  private readonly begunAt: number;

  constructor(
    private readonly toolset: Toolset,
    private readonly context: Pick<HandlerContext, 'attempt' | 'emit' | 'onRetry'>,
    private readonly runtime: Told,
  ) {
    this.begunAt = runtime.clock.now();
    context.onRetry((retry) => this.tell(retry));
  }

  /** The model was had, in an attempt behind others. */
  async over(): Promise<void> {
    if (this.context.attempt > 1) await this.kept(noLongerWaiting(this.toolset, this.runtime));
  }

  private tell({ fault, attempt, waitMs }: Retry): void {
    const now = this.runtime.clock.now();
    if (!fault.code.startsWith('model_') || (waitMs < shortMs && now - this.begunAt < shortMs)) return;
    const { requestId, sessionId, iteration, run } = this.toolset;
    const ids = { requestId, sessionId, tenantId: run.principal?.tenantId ?? null, toolCallId: null, tool: null };
    // Of the fault itself callers read nothing: it may say where the model is.
    const reason = fault.brief ?? 'it could not be reached';
    const said = { kind: 'model_retry', text: reason, attempt: '', sequence: attempt };
    const record = { ...ids, iteration, ...said, retryAt: Math.round(now + waitMs), at: now };
    this.context.emit([{ topic: topics.progress, key: sessionId, record }]);
    if (attempt <= timesKept) void this.kept(noteWaiting(this.toolset, reason, this.runtime));
  }

  private async kept(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      this.runtime.log.debug({ error: (error as Error).message }, 'that a run waits for its model could not be kept');
    }
  }
}
