import type { Duplex } from 'node:stream';
import { LineBuffer } from '@sluice/core';
import { lineBytes } from './messages.js';

/** JSON messages, a line each, over the pipe between the service and a tool’s process. */
export class Channel<Sent, Received> {
  private readonly lines = new LineBuffer(lineBytes);

  constructor(
    private readonly pipe: Duplex,
    onMessage: (message: Received) => void,
    /** The other end is gone, or sent what is no message. */
    onClosed: () => void,
  ) {
    pipe.on('data', (chunk: Buffer) => {
      try {
        for (const line of this.lines.add(chunk)) onMessage(JSON.parse(line) as Received);
      } catch {
        pipe.destroy();
        onClosed();
      }
    });
    pipe.on('end', onClosed);
    pipe.on('error', onClosed);
  }

  send(message: Sent): void {
    if (!this.pipe.destroyed) this.pipe.write(`${JSON.stringify(message)}\n`);
  }

  /** Bytes that wait for the other end to read. */
  get unread(): number {
    return this.pipe.writableLength;
  }

  close(): void {
    this.lines.clear();
    this.pipe.destroy();
  }
}
