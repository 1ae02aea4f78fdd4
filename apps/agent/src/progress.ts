import { topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import type { HandlerContext } from '@sluice/bus';
import type { Clock } from '@sluice/core';

/** Pieces of text closer together than this go out as one record, in milliseconds. */
const gatherMs = 25;

/** Text that waits goes out early beyond this length, so that no record grows with a fast model. */
const gatherLength = 4_096;

/**
 * Sends a model’s text out as it comes: the first piece at once, those behind it a few times a second at most. Pieces
 * are numbered within their attempt, so that a reader sees where one was lost, and where the model was asked again
 * and starts over. White space around the whole is left out, as the turn’s record has none: what may be its end waits
 * for more text.
 */
export class ProgressText {
  private text = '';
  /** White space that goes out if more text follows. */
  private space = '';
  private hasBegun = false;
  private sequence = 0;
  private timer: NodeJS.Timeout | undefined;

  /** `attempt` names this reply of the model; another attempt at the turn has another name. */
  constructor(
    private readonly toolset: Toolset,
    private readonly attempt: string,
    private readonly context: Pick<HandlerContext, 'emit'>,
    private readonly clock: Clock,
  ) {}

  add(piece: string): void {
    const said = this.hasBegun ? piece : piece.trimStart();
    const written = said.trimEnd();
    if (written === '') {
      if (this.hasBegun) this.space += said;
      return;
    }
    this.hasBegun = true;
    this.text += this.space + written;
    this.space = said.slice(written.length);
    if (this.timer === undefined || this.text.length >= gatherLength) this.sendWhole();
  }

  /** What is left, at the end of the turn. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.send(this.text);
    this.text = '';
  }

  /** All but the first half of a character whose other half is still to come. */
  private sendWhole(): void {
    const end = isHalved(this.text) ? this.text.length - 1 : this.text.length;
    this.send(this.text.slice(0, end));
    this.text = this.text.slice(end);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.text !== '' && !isOnlyHalf(this.text)) this.sendWhole();
    }, gatherMs);
  }

  private send(text: string): void {
    if (text === '') return;
    const { requestId, sessionId, iteration, run } = this.toolset;
    const ids = { requestId, sessionId, tenantId: run.principal?.tenantId ?? null };
    const piece = { text, attempt: this.attempt, sequence: this.sequence++, at: this.clock.now() };
    const record = {
      ...ids,
      iteration,
      kind: 'text',
      toolCallId: null,
      tool: null,
      ...piece,
      retryAt: null,
      notice: null,
    };
    this.context.emit([{ topic: topics.progress, key: sessionId, record }]);
  }
}

/** Whether the text ends with the first half of a character whose other half is still to come. */
function isHalved(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00;
}

function isOnlyHalf(text: string): boolean {
  return text.length === 1 && isHalved(text);
}
