import { topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import type { HandlerContext } from '@sluice/bus';
import type { Clock } from '@sluice/core';

/** Pieces of text closer together than this go out as one record, in milliseconds. */
const gatherMs = 50;

/** Sends a model's text out as it comes, a few records a second at most. */
export class ProgressText {
  private text = '';
  private lastAt: number;

  constructor(
    private readonly toolset: Toolset,
    private readonly context: HandlerContext,
    private readonly clock: Clock,
  ) {
    this.lastAt = clock.now();
  }

  add(piece: string): void {
    this.text += piece;
    if (this.clock.now() - this.lastAt >= gatherMs) this.flush();
  }

  flush(): void {
    if (this.text === '') return;
    const { requestId, sessionId, iteration } = this.toolset;
    const at = this.clock.now();
    const record = { requestId, sessionId, iteration, kind: 'text', toolCallId: null, tool: null, text: this.text, at };
    this.context.emit([{ topic: topics.progress, key: sessionId, record }]);
    this.text = '';
    this.lastAt = at;
  }
}
