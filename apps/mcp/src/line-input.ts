import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import type { JsonValue } from '@sluice/core';
import { messageOfClient } from '@sluice/mcp';

/** Bytes of a line that is waited for; a longer one is passed on as it comes, and the SDK says what it thinks of it. */
const longestLine = 1_048_576;
const newLine = 0x0a;

/** A client’s messages, a line each, as the protocol has them (messageOfClient). */
export class LineInput extends Transform {
  private pieces: Buffer[] = [];
  private bytes = 0;
  private isPassing = false;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    let start = 0;
    for (let end = chunk.indexOf(newLine); end !== -1; end = chunk.indexOf(newLine, start)) {
      this.add(chunk.subarray(start, end + 1), true);
      start = end + 1;
    }
    if (start < chunk.length) this.add(chunk.subarray(start), false);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.push(Buffer.concat(this.pieces));
    done();
  }

  private add(piece: Buffer, isEnd: boolean): void {
    this.bytes += piece.length;
    this.pieces.push(piece);
    if (this.bytes > longestLine) this.isPassing = true;
    if (!this.isPassing && !isEnd) return;
    const line = Buffer.concat(this.pieces);
    this.push(this.isPassing ? line : asStated(line));
    this.pieces = [];
    if (!isEnd) return;
    this.bytes = 0;
    this.isPassing = false;
  }
}

function asStated(line: Buffer): Buffer {
  try {
    const message = JSON.parse(line.toString('utf8')) as JsonValue;
    const stated = messageOfClient(message);
    return stated === message ? line : Buffer.from(`${JSON.stringify(stated)}\n`);
  } catch {
    return line;
  }
}
