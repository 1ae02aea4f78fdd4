import type { Transform } from 'node:stream';
import { valuesOf } from '@sluice/proxy';
import { decodeStream, decodeTurn, type DecodedTurn, type StreamDecoder, type WireName } from '@sluice/wires';
import { decompressor } from './compression.js';
import type { Answer } from './upstreams.js';

/** Bytes of an answer in one piece that are kept to be read; of a longer one it is not known which tools it calls. */
const longestKept = 8 << 20;

/** Learns which tools an answer calls while it passes. What cannot be read calls none, and passes all the same. */
export class CalledTools {
  private readonly plain: Transform | null;
  private decoder: StreamDecoder | null;
  private chunks: Buffer[] | null;
  private bytes = 0;

  constructor(
    private readonly wire: WireName,
    answer: Answer,
  ) {
    const [type = ''] = valuesOf(answer.headers, 'content-type');
    const isRead = answer.status < 300;
    this.decoder = isRead && /event-?stream/.test(type) ? decodeStream(wire) : null;
    this.chunks = isRead && /json/.test(type) ? [] : null;
    this.plain = this.decoder === null && this.chunks === null ? null : decompressor(answer);
    this.plain?.on('data', (chunk: Buffer) => {
      this.take(chunk);
    });
    this.plain?.on('error', () => {
      this.giveUp();
    });
  }

  /** The next bytes of the answer, as they came. */
  see(chunk: Buffer): void {
    if (this.plain === null) this.take(chunk);
    else this.plain.write(chunk);
  }

  /** To be asked once the answer has passed. */
  async names(): Promise<readonly string[]> {
    const { plain } = this;
    if (plain !== null && !plain.destroyed)
      await new Promise((resolve) => {
        plain.once('close', resolve);
        plain.end();
      });
    const turn = this.read();
    return turn === null ? [] : turn.parts.flatMap((part) => (part.type === 'call' ? [part.name] : []));
  }

  private take(chunk: Buffer): void {
    try {
      this.decoder?.push(chunk);
    } catch {
      this.giveUp();
    }
    this.bytes += chunk.length;
    if (this.bytes > longestKept) this.chunks = null;
    this.chunks?.push(chunk);
  }

  private giveUp(): void {
    this.decoder = null;
    this.chunks = null;
  }

  private read(): DecodedTurn | null {
    try {
      if (this.chunks !== null) return decodeTurn(this.wire, Buffer.concat(this.chunks).toString('utf8'));
      return this.decoder?.end() ?? null;
    } catch {
      return null;
    }
  }
}
