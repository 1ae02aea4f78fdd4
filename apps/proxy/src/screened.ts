import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { failureStatus, forwarded, type SearchLoop, valuesOf } from '@sluice/proxy';
import {
  createSplitter,
  decodeStream,
  decodeTurn,
  errorFrame,
  roundScreening,
  type DecodedTurn,
  type RoundScreening,
  type Screening,
  type StreamDecoder,
  type StreamFailure,
  type WireName,
} from '@sluice/wires';
import { decompressor } from './compression.js';
import { sendAnswer, writeHead } from './send.js';
import { type Answer, UpstreamFailure } from './upstreams.js';

/** An answer in which the search tool may be called. */
interface Screened {
  readonly wire: WireName;
  readonly screening: Screening;
  readonly loop: SearchLoop;
  readonly signal: AbortSignal;
  /** Headers of Sluice’s for the answer. */
  readonly added: Readonly<Record<string, string>>;
  /** Asks the model again, with another body. */
  readonly again: (body: string) => Promise<Answer>;
  /**
   * Notes what a later request needs: by which id the client knows the answer and by which its provider does, and its
   * rounds. Never rejects.
   */
  readonly settled: (shownId: string, id: string) => Promise<void>;
  /** Notes that an answer broke off. */
  readonly broken: (answer: Answer) => void;
}

/** One of a wire that shows rounds as one. */
interface Shown extends Screened {
  readonly rounds: RoundScreening;
}

/** Bytes of an answer that is read before it is passed on; a longer one passes as it comes. */
const longestWhole = 64 << 20;

/**
 * Bytes of a streamed round in which searches are answered: four times what a model that runs away was seen to write,
 * and Responses repeats it.
 */
const longestRound = 16 << 20;

/** Passes an answer on without the search tool, and asks the model again as long as it only searches. */
export async function sendScreened(outgoing: ServerResponse, answer: Answer, screened: Screened): Promise<void> {
  const [type = ''] = valuesOf(answer.headers, 'content-type');
  const rounds = roundScreening(screened.wire);
  if (answer.status >= 300 || rounds === null) return sendAnswer(outgoing, answer, { added: screened.added });
  if (/event-?stream/.test(type)) return sendStream(outgoing, answer, { ...screened, rounds });
  if (/json/.test(type)) return sendWhole(outgoing, answer, { ...screened, rounds });
  return sendAnswer(outgoing, answer, { added: screened.added });
}

async function sendStream(outgoing: ServerResponse, first: Answer, screened: Shown): Promise<void> {
  const { wire, rounds, loop, screening, signal, added } = screened;
  const screen = rounds.screen(screening);
  writePlainHead(outgoing, first, added);
  outgoing.flushHeaders();
  const write = async (frames: readonly Uint8Array[]): Promise<void> => {
    for (const frame of frames) if (!outgoing.write(frame)) await once(outgoing, 'drain', { signal });
  };
  let shownId: string | null = null;
  for (let answer = first; ;) {
    const splitter = createSplitter(wire);
    let decoder: StreamDecoder | null = decodeStream(wire, {}, longestRound);
    try {
      for await (const chunk of decompressed(answer)) {
        decoder = pushed(decoder, chunk);
        for (const event of splitter.push(chunk)) await write(screen.event(event));
      }
    } catch (error) {
      if (signal.aborted) throw error;
      // The upstream broke off; so does the answer.
      screened.broken(answer);
      outgoing.destroy();
      return;
    }
    for (const event of splitter.end()) await write(screen.event(event));
    const turn = ended(decoder);
    if (turn === null && screen.isHiding) {
      // Without its search the answer would be an empty one.
      const message = `The answer of the upstream ${answer.upstream.id} could not be read to its end, so its search for tools was not answered.`;
      await write([errorFrame(wire, { status: 502, message, body: null })]);
      outgoing.end();
      return;
    }
    const { goesOn, hasCalls } = turn === null ? { goesOn: false, hasCalls: true } : await loop.take(turn);
    shownId ??= turn?.id ?? null;
    if (!goesOn) {
      if (turn !== null && shownId !== null) await screened.settled(shownId, turn.id);
      await write(screen.last({ hasCalls }));
      outgoing.end();
      return;
    }
    screen.next();
    const next = await following(screened);
    if ('failure' in next) {
      // The head has gone, so the client learns of the failure by the event that its wire has for it.
      await write([errorFrame(wire, next.failure)]);
      outgoing.end();
      return;
    }
    answer = next;
  }
}

/** The answer to the request that follows a search, or why there is none that a stream can go on with. */
async function following({ loop, again, broken }: Screened): Promise<Answer | { readonly failure: StreamFailure }> {
  let answer: Answer;
  try {
    answer = await again(loop.request());
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { failure: { status: failureStatus[error.kind], message: error.message, body: null } };
  }
  const [type = ''] = valuesOf(answer.headers, 'content-type');
  if (answer.status < 300 && /event-?stream/.test(type)) return answer;
  const message = `The upstream ${answer.upstream.id} answered ${String(answer.status)} to a request that followed a search, and no stream.`;
  const status = answer.status < 400 ? 502 : answer.status;
  try {
    return { failure: { status, message, body: (await wholeBody(answer)).toString('utf8') } };
  } catch {
    broken(answer);
    return { failure: { status, message, body: null } };
  }
}

async function sendWhole(outgoing: ServerResponse, first: Answer, screened: Shown): Promise<void> {
  const { wire, rounds, loop, screening } = screened;
  const bodies: string[] = [];
  for (let answer = first; ;) {
    const bytes = await wholeOrBroken(answer, screened);
    const body = bytes.toString('utf8');
    const turn = answer.status >= 300 ? null : readTurn(wire, body);
    if (turn === null) return sendBytes(outgoing, answer, bytes, screened.added);
    bodies.push(body);
    const isSearched = turn.parts.some((part) => part.type === 'call' && part.name === screening.searchTool);
    const { goesOn, hasCalls } = await loop.take(turn);
    if (!goesOn) {
      await screened.settled(turn.id, turn.id);
      const isSame = bodies.length === 1 && !isSearched && !rounds.repeatsTools;
      return sendBytes(
        outgoing,
        answer,
        isSame ? bytes : Buffer.from(rounds.mergeAnswers(bodies, screening, { hasCalls })),
        screened.added,
      );
    }
    answer = await screened.again(loop.request());
  }
}

async function wholeOrBroken(answer: Answer, { signal, broken }: Screened): Promise<Buffer> {
  try {
    return await wholeBody(answer);
  } catch (error) {
    if (signal.aborted) throw error;
    broken(answer);
    const { upstream } = answer;
    throw new UpstreamFailure('broken_off', `The upstream ${upstream.id} broke off its answer.`, upstream);
  }
}

/** Throws where the answer breaks off, or is too long. */
async function wholeBody(answer: Answer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of decompressed(answer)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > longestWhole) throw new Error('An answer of an upstream is longer than 64 MB.');
  }
  return Buffer.concat(chunks);
}

function sendBytes(outgoing: ServerResponse, answer: Answer, bytes: Buffer, added: Screened['added']): void {
  writePlainHead(outgoing, answer, { ...added, 'content-length': String(bytes.length) });
  outgoing.end(bytes);
}

/** The head of an answer whose bytes are read here, and so are neither compressed nor of their former length. */
function writePlainHead(outgoing: ServerResponse, answer: Answer, added: Screened['added']): void {
  const without = (name: string): boolean => name === 'content-length' || name === 'content-encoding';
  writeHead(outgoing, answer, forwarded(answer.headers, { without, added }));
}

function decompressed(answer: Answer): AsyncIterable<Buffer> {
  const { body } = answer;
  const plain = decompressor(answer);
  if (plain === null) return body as AsyncIterable<Buffer>;
  body.on('error', (error) => plain.destroy(error));
  plain.on('close', () => body.destroy());
  return body.pipe(plain) as AsyncIterable<Buffer>;
}

/** A stream that cannot be read is passed on all the same; no search is answered in it. */
function pushed(decoder: StreamDecoder | null, chunk: Uint8Array): StreamDecoder | null {
  try {
    decoder?.push(chunk);
    return decoder;
  } catch {
    return null;
  }
}

function ended(decoder: StreamDecoder | null): DecodedTurn | null {
  try {
    return decoder?.end() ?? null;
  } catch {
    return null;
  }
}

function readTurn(wire: WireName, body: string): DecodedTurn | null {
  try {
    return decodeTurn(wire, body);
  } catch {
    return null;
  }
}
