import type { JsonValue } from '@sluice/core';
import { awsFrame, sseFrame } from '../../stream/frames.js';
import type { RawEvent } from '../../screen/events.js';
import { addUsage, objectAt, parsed, type RoundEnd, type Screen, type Screening } from '../../screen/screen.js';

type Frame = (value: Record<string, JsonValue>) => Uint8Array;
type Block = number | 'hidden';

export const eventFrame: Frame = (event) =>
  sseFrame(JSON.stringify(event), typeof event['type'] === 'string' ? event['type'] : undefined);

export const chunkFrame: Frame = (event) =>
  awsFrame('chunk', JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64') }));

/** Anthropic’s Messages, at either address. */
export class MessagesScreen implements Screen {
  private isFirst = true;
  private usage: JsonValue | undefined;
  private roundUsage: Record<string, JsonValue> = {};
  private blocks = new Map<JsonValue, Block>();
  /** Numbers that the client has seen, over all rounds. */
  private shown = 0;
  private _isHiding = false;
  private end: Record<string, JsonValue>[] = [];

  constructor(
    private readonly screening: Screening,
    private readonly frame: Frame,
  ) {}

  get isHiding(): boolean {
    return this._isHiding;
  }

  event({ raw, data, name }: RawEvent): readonly Uint8Array[] {
    const event = data === null ? null : parsed(data);
    if (event === null) return [raw];
    const type = event['type'] ?? name;
    switch (type) {
      case 'message_start':
        this.roundUsage = { ...objectAt(objectAt(event, 'message'), 'usage') };
        return this.isFirst ? [raw] : [];
      case 'content_block_start': {
        const block = objectAt(event, 'content_block');
        const isHidden = block?.['type'] === 'tool_use' && block['name'] === this.screening.searchTool;
        this._isHiding ||= isHidden;
        this.blocks.set(event['index'] ?? 0, isHidden ? 'hidden' : this.shown++);
        return this.numbered(event, raw);
      }
      case 'content_block_delta':
      case 'content_block_stop':
        return this.numbered(event, raw);
      case 'message_delta': {
        const usage = objectAt(event, 'usage') ?? {};
        for (const [one, value] of Object.entries(usage)) if (value !== null) this.roundUsage[one] = value;
        if (this.usage !== undefined) event['usage'] = addUsage(this.usage, this.roundUsage) ?? null;
        if (!this.isHeld) return [this.usage === undefined ? raw : this.frame(event)];
        this.end.push(event);
        return [];
      }
      case 'message_stop':
        if (!this.isHeld) return [raw];
        this.end.push(event);
        return [];
      default:
        return [raw];
    }
  }

  private numbered(event: Record<string, JsonValue>, raw: Uint8Array): readonly Uint8Array[] {
    const block = this.blocks.get(event['index'] ?? 0);
    if (block === 'hidden') return [];
    if (block === undefined || block === event['index']) return [raw];
    event['index'] = block;
    return [this.frame(event)];
  }

  /** The end of a later round waits until it is kept what the rounds were. */
  private get isHeld(): boolean {
    return this._isHiding || !this.isFirst;
  }

  next(): void {
    this.usage = addUsage(this.usage, this.roundUsage);
    this.roundUsage = {};
    this.isFirst = false;
    this.blocks = new Map();
    this._isHiding = false;
    this.end = [];
  }

  last({ hasCalls }: RoundEnd): readonly Uint8Array[] {
    return this.end.splice(0).map((event) => {
      const delta = objectAt(event, 'delta');
      if (delta?.['stop_reason'] === 'tool_use' && !hasCalls) delta['stop_reason'] = 'end_turn';
      return this.frame(event);
    });
  }
}
