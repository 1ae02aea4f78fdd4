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
    if (this.clock.now() - this.lastAt >= gatherMs && !isHalved(this.text)) this.flush();
  }

  /** What is left, at the end of the turn. */
  flush(): void {
    if (this.text === '') return;
    const { requestId, sessionId, iteration, run } = this.toolset;
    const at = this.clock.now();
    const ids = { requestId, sessionId, tenantId: run.principal?.tenantId ?? null };
    const record = { ...ids, iteration, kind: 'text', toolCallId: null, tool: null, text: this.text, at };
    this.context.emit([{ topic: topics.progress, key: sessionId, record }]);
    this.text = '';
    this.lastAt = at;
  }
}

/** Whether the text ends with the first half of a character whose other half is still to come. */
function isHalved(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00;
}
