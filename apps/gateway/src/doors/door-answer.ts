import type { Response } from 'express';
import type { AssistantStreamChunk } from 'assistant-stream';
import type { AgentResponse } from '@sluice/contracts';
import type { JsonObject } from '@sluice/core';
import { encodeStream, encodeTurn, noUsage } from '@sluice/wires';
import type { ClientCall } from '@sluice/run';
import type { CallPart, Finish, Usage } from '@sluice/wires';
import { leaveStuck, whenGone } from '../client-disconnect.js';
import type { RunAnswer } from '../run-answer.js';
import { AnswerPieces } from './answer-pieces.js';
import type { AnswerPiece, ShownCalls, ShownPiece } from './answer-pieces.js';
import type { DoorWire } from './door.js';
import { withHeldText } from './held-text.js';
import { refusalOfEnd } from './run-end.js';
import { errorEvent } from './wire-error.js';

/** What a door’s answer says of its run and its request. */
interface AnswerHead {
  readonly wire: DoorWire;
  /** The answer’s id, by where its run is found. */
  readonly idOf: (address: string) => string;
  readonly model: string;
  readonly createdAtMs: number;
  readonly beside: JsonObject;
  readonly shown: ShownCalls;
  /** Whether the answer has to fit a schema, so that no other text stands beside it. */
  readonly isHeld: boolean;
  /** The calls that wait for the client under the question. */
  readonly callsOf: (question: string) => Promise<readonly ClientCall[]>;
  /** The question behind whose results the answer begins; null for the beginning of the run. */
  readonly after: string | null;
  /** The sentence about a call that waits. */
  readonly waiting: (parked: Extract<AnswerPiece, { type: 'parked' }>) => string;
}

interface SaidPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
}

/** How an answer ended. */
interface Ended {
  readonly finish: Finish;
  readonly usage: Usage;
}

/** Tells a run in a wire, whole or as a stream. */
export class DoorAnswer implements RunAnswer {
  private end: AgentResponse | null = null;
  private saidText = false;
  private id = '';
  /** What the run had used before this answer. */
  private before = { inputTokens: 0, outputTokens: 0 };

  constructor(
    private readonly response: Response,
    private readonly head: AnswerHead,
    private readonly isStreamed: boolean,
    /** Its client went away before the end. */
    private readonly onLeave: () => void,
  ) {}

  whenGone(act: () => void): void {
    whenGone(this.response, act);
  }

  isAt(address: string): void {
    this.response.set('location', address);
    this.id = this.head.idOf(address);
  }

  ended(end: AgentResponse): void {
    this.end = end;
  }

  send(): never {
    throw new Error('A door follows a run as its stream.');
  }

  async stream(chunks: AsyncIterable<AssistantStreamChunk>): Promise<void> {
    let isOver = false;
    this.whenGone(() => {
      if (!isOver) this.onLeave();
    });
    const sent = this.pieces(chunks);
    const pieces = this.head.isHeld ? withHeldText(sent, () => this.end?.structured ?? null) : sent;
    await (this.isStreamed ? this.sendStream(pieces) : this.sendWhole(pieces));
    isOver = true;
  }

  private async *pieces(chunks: AsyncIterable<AssistantStreamChunk>): AsyncGenerator<ShownPiece, void, undefined> {
    const { shown, after } = this.head;
    const pieces = new AnswerPieces(shown);
    let isBefore = after !== null;
    for await (const chunk of chunks)
      for (const piece of pieces.of(chunk)) {
        if (piece.type === 'calls') {
          if (!isBefore) return yield* this.calls(piece);
          isBefore = piece.question !== after;
          this.before = piece.usage;
        } else if (!isBefore || piece.type === 'quiet' || piece.type === 'end' || piece.type === 'failed') {
          yield piece;
          if (piece.type === 'end' || piece.type === 'failed') return;
          if (piece.type !== 'parked') continue;
          return yield* this.parked(piece, { ...noUsage, ...pieces.tokens });
        }
      }
  }

  /** The run goes on, and who may decide is not its client: the answer says so, and where to look. */
  private *parked(
    piece: Extract<AnswerPiece, { type: 'parked' }>,
    usage: Usage,
  ): Generator<ShownPiece, void, undefined> {
    yield { type: 'begin', kind: 'text', again: false };
    yield { type: 'piece', kind: 'text', text: this.head.waiting(piece) };
    yield { type: 'end', finish: 'stop', usage };
  }

  /** The answer ends with the calls, and the run goes on once their results come. */
  private async *calls({
    question,
    usage,
  }: Extract<AnswerPiece, { type: 'calls' }>): AsyncGenerator<ShownPiece, void, undefined> {
    const waiting = await this.head.callsOf(question);
    if (waiting.length === 0)
      return yield { type: 'failed', code: 'interrupted', message: 'The calls are no longer kept.' };
    for (const { id, name, arguments: args } of waiting)
      yield { type: 'call', call: { type: 'call', toolCallId: id, name, args } };
    yield { type: 'end', finish: 'calls', usage };
  }

  private async sendWhole(pieces: AsyncIterable<ShownPiece>): Promise<void> {
    const parts: ({ type: 'text' | 'reasoning'; text: string } | CallPart)[] = [];
    for await (const piece of pieces) {
      if (piece.type === 'failed') throw refusalOfEnd(piece.code, piece.message);
      if (piece.type === 'begin') {
        if (piece.again)
          parts.splice(
            parts.findLastIndex(({ type }) => type === 'text'),
            1,
          );
        parts.push({ type: piece.kind, text: '' });
      } else if (piece.type === 'piece') {
        const last = parts.at(-1);
        if (last !== undefined && last.type !== 'call') last.text += piece.text;
      } else if (piece.type === 'call') parts.push(piece.call);
      else if (piece.type === 'end') return this.finishWhole(parts, this.endOf(piece));
    }
    if (!this.response.closed) throw refusalOfEnd('interrupted', 'The run cannot be followed any more.');
  }

  private finishWhole(found: readonly (SaidPart | CallPart)[], { finish, usage }: Ended): void {
    const { wire, model, createdAtMs, beside } = this.head;
    const parts = found
      .filter((part) => part.type === 'call' || part.text !== '')
      .map((part) => (part.type === 'call' ? part : this.separated(part)));
    const { body } = encodeTurn(wire, { id: this.id, model, parts, finish, usage }, createdAtMs, {
      ...beside,
      ...this.completed(),
    });
    this.response.status(200).type('application/json').send(body);
  }

  private async sendStream(pieces: AsyncIterable<ShownPiece>): Promise<void> {
    const { response } = this;
    const { wire, model, createdAtMs, beside } = this.head;
    const encoder = encodeStream(wire, { id: this.id, model, createdAtMs, beside });
    response.status(200).set({
      ...{ 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    });
    response.flushHeaders();
    leaveStuck(response);
    await this.write(encoder.start());
    let isNew = false;
    for await (const piece of pieces) {
      if (response.closed) return;
      if (piece.type === 'begin') isNew = true;
      else if (piece.type === 'piece') {
        const part: SaidPart = { type: piece.kind, text: piece.text };
        await this.write(encoder.part(isNew ? this.separated(part) : part));
        isNew = false;
      } else if (piece.type === 'call') await this.write(encoder.part(piece.call));
      else if (piece.type === 'quiet') await this.write(Buffer.from(': the run goes on\n\n'));
      else if (piece.type === 'failed') {
        const { status, code, message, more } = refusalOfEnd(piece.code, piece.message);
        await this.write(errorEvent(wire, { status, code, message, more }));
      } else if (piece.type === 'end') {
        const { finish, usage } = this.endOf(piece);
        await this.write(encoder.end(finish, usage, this.completed()));
      }
    }
    response.end();
  }

  /** Texts of several turns are one text in most wires: a blank line stands between them. */
  private separated(part: SaidPart): SaidPart {
    if (part.type !== 'text') return part;
    const text = this.saidText ? `\n\n${part.text}` : part.text;
    this.saidText = true;
    return { ...part, text };
  }

  /** Responses say when they were complete. */
  private completed(): JsonObject {
    const { wire, createdAtMs } = this.head;
    const at = this.end?.endedAt ?? createdAtMs;
    return wire === 'openai-responses' ? { completed_at: Math.floor(at / 1_000) } : {};
  }

  /** What the run used is on its end; one that goes on has used what its turns did so far. */
  private endOf({ finish, usage }: Extract<AnswerPiece, { type: 'end' }>): Ended {
    const run = this.end?.run;
    const { before } = this;
    const { inputTokens, outputTokens } = run ?? usage;
    const cachedInputTokens = before.inputTokens === 0 ? (run?.cachedInputTokens ?? 0) : 0;
    const own = { inputTokens: inputTokens - before.inputTokens, outputTokens: outputTokens - before.outputTokens };
    return { finish, usage: { ...noUsage, ...own, cachedInputTokens } };
  }

  /** Resolves once there is room for more, or the client is gone. */
  private async write(bytes: Uint8Array): Promise<void> {
    const { response } = this;
    if (response.closed || bytes.length === 0 || response.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.once('drain', done).once('close', done);
    });
  }
}
