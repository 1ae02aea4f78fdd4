import { topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import type { HandlerContext, Retry } from '@sluice/bus';
import { noLongerWaiting, noteWaiting } from '@sluice/run';
import type { Runtime } from '@sluice/host';

/** A shorter wait behind a short attempt is over before a caller asks. */
const shortMs = 500;

/**
 * Retries of a turn that are noted beside the log: the first says since when, and an outage must not become a load on
 * the ledger.
 */
const mostNotes = 5;

type NoticeParts = Pick<Runtime, 'clock' | 'documents' | 'log'>;

/** Shows those who follow a run that its model could not be reached, why, and when it is asked again. */
export class RetryNotice {
  private readonly begunAt: number;

  constructor(
    private readonly toolset: Toolset,
    private readonly context: Pick<HandlerContext, 'attempt' | 'emit' | 'onRetry'>,
    private readonly runtime: NoticeParts,
  ) {
    this.begunAt = runtime.clock.now();
    context.onRetry((retry) => this.send(retry));
  }

  /** Takes the note back once the model gave its turn. The first attempt has left none. */
  async clear(): Promise<void> {
    if (this.context.attempt > 1) await this.logged(noLongerWaiting(this.toolset, this.runtime));
  }

  private send({ fault, attempt, waitMs }: Retry): void {
    const now = this.runtime.clock.now();
    if (!fault.code.startsWith('model_') || (waitMs < shortMs && now - this.begunAt < shortMs)) return;
    const { requestId, sessionId, iteration, run } = this.toolset;
    const ids = { requestId, sessionId, tenantId: run.principal?.tenantId ?? null, toolCallId: null, tool: null };
    // Callers do not see the fault’s own message: it may say where the model is.
    const reason = fault.brief ?? 'it could not be reached';
    const said = { kind: 'model_retry', text: reason, attempt: '', sequence: attempt };
    const record = { ...ids, iteration, ...said, retryAt: Math.round(now + waitMs), notice: null, at: now };
    this.context.emit([{ topic: topics.progress, key: sessionId, record }]);
    if (attempt <= mostNotes) void this.logged(noteWaiting(this.toolset, reason, this.runtime));
  }

  private async logged(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      this.runtime.log.debug({ error: (error as Error).message }, 'that a run waits for its model could not be kept');
    }
  }
}
