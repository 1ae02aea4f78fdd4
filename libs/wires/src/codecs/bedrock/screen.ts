import type { JsonValue } from '@sluice/core';
import { awsFrame } from '../../stream/frames.js';
import type { RawEvent } from '../../screen/events.js';
import { addUsage, objectAt, parsed, type RoundEnd, type Screen, type Screening } from '../../screen/screen.js';

type Event = Record<string, JsonValue>;

/** Bedrock’s Converse. */
export class ConverseScreen implements Screen {
  private isFirst = true;
  private usage: JsonValue | undefined;
  private roundUsage: JsonValue | undefined;
  private blocks = new Map<JsonValue, number | 'hidden'>();
  private shown = 0;
  private _isHiding = false;
  private end: (readonly [string, Event])[] = [];

  constructor(private readonly screening: Screening) {}

  get isHiding(): boolean {
    return this._isHiding;
  }

  event({ raw, data, name }: RawEvent): readonly Uint8Array[] {
    const event = data === null ? null : parsed(data);
    if (event === null) return [raw];
    switch (name) {
      case 'messageStart':
        return this.isFirst ? [raw] : [];
      case 'contentBlockStart':
      case 'contentBlockDelta':
      case 'contentBlockStop':
        return this.block(event, name, raw);
      case 'metadata':
        this.roundUsage = event['usage'];
        if (this.usage !== undefined) event['usage'] = addUsage(this.usage, this.roundUsage) ?? null;
        if (!this.isHeld) return [this.usage === undefined ? raw : awsFrame(name, JSON.stringify(event))];
        this.end.push([name, event]);
        return [];
      case 'messageStop':
        if (!this.isHeld) return [raw];
        this.end.push([name, event]);
        return [];
      default:
        return [raw];
    }
  }

  /** A block of text has no start of its own. */
  private block(event: Event, name: string, raw: Uint8Array): readonly Uint8Array[] {
    const index = event['contentBlockIndex'] ?? 0;
    let block = this.blocks.get(index);
    if (block === undefined) {
      const tool = objectAt(objectAt(event, 'start'), 'toolUse')?.['name'];
      const isHidden = name === 'contentBlockStart' && tool === this.screening.searchTool;
      this._isHiding ||= isHidden;
      block = isHidden ? 'hidden' : this.shown++;
      this.blocks.set(index, block);
    }
    if (block === 'hidden') return [];
    if (block === index) return [raw];
    return [awsFrame(name, JSON.stringify({ ...event, contentBlockIndex: block }))];
  }

  /** The end of a later round waits until it is kept what the rounds were. */
  private get isHeld(): boolean {
    return this._isHiding || !this.isFirst;
  }

  next(): void {
    this.usage = addUsage(this.usage, this.roundUsage);
    this.roundUsage = undefined;
    this.isFirst = false;
    this.blocks = new Map();
    this._isHiding = false;
    this.end = [];
  }

  last({ hasCalls }: RoundEnd): readonly Uint8Array[] {
    return this.end.splice(0).map(([name, event]) => {
      if (event['stopReason'] === 'tool_use' && !hasCalls) event['stopReason'] = 'end_turn';
      return awsFrame(name, JSON.stringify(event));
    });
  }
}
