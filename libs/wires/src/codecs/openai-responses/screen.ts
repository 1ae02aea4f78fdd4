import { isJsonObject, type JsonObject, type JsonValue } from '@sluice/core';
import { sseFrame } from '../../stream/frames.js';
import type { RawEvent } from '../../screen/events.js';
import { addUsage, listAt, objectAt, parsed, type Screen, type Screening } from '../../screen/screen.js';

const ends: ReadonlySet<JsonValue> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** OpenAI’s Responses. Its answers repeat the request’s tools, and at the end all that was said. */
export class ResponsesScreen implements Screen {
  private isFirst = true;
  /** The client knows the answer by the id that its first event names, and takes no other at its end. */
  private id: JsonValue | undefined;
  private usage: JsonValue | undefined;
  private roundUsage: JsonValue | undefined;
  private items = new Map<JsonValue, number | 'hidden'>();
  private shown = 0;
  private sequence = 0;
  /** What former rounds said. */
  private output: readonly JsonObject[] = [];
  private roundOutput: readonly JsonObject[] = [];
  private _isHiding = false;
  private end: Record<string, JsonValue>[] = [];

  constructor(private readonly screening: Screening) {}

  get isHiding(): boolean {
    return this._isHiding;
  }

  event({ raw, data, name }: RawEvent): readonly Uint8Array[] {
    const event = data === null ? null : parsed(data);
    if (event === null) return [raw];
    const type = event['type'] ?? name;
    const response = objectAt(event, 'response');
    if (response !== null) {
      if (ends.has(type)) return this.ends(event, response);
      if (!this.isFirst) return [];
      this.id ??= response['id'];
      restoreTools(response, this.screening);
      return [this.frame(event)];
    }
    if (type === 'response.output_item.added') {
      const isHidden = isSearch(objectAt(event, 'item'), this.screening);
      this._isHiding ||= isHidden;
      this.items.set(event['output_index'] ?? 0, isHidden ? 'hidden' : this.shown++);
    }
    if (event['output_index'] !== undefined) {
      const item = this.items.get(event['output_index']);
      if (item === 'hidden') return [];
      if (item !== undefined) event['output_index'] = item;
    }
    return [this.frame(event)];
  }

  private ends(event: Record<string, JsonValue>, response: Record<string, JsonValue>): readonly Uint8Array[] {
    if (this.id !== undefined) response['id'] = this.id;
    this.roundUsage = response['usage'] ?? undefined;
    this.roundOutput = listAt(response, 'output').filter((item) => !isSearch(item, this.screening));
    response['output'] = [...this.output, ...this.roundOutput];
    if (this.usage !== undefined) response['usage'] = addUsage(this.usage, this.roundUsage) ?? null;
    restoreTools(response, this.screening);
    // The end of a later round waits until it is known under which id the answer can be gone on from.
    if (!this._isHiding && this.isFirst) return [this.frame(event)];
    this.end.push(event);
    return [];
  }

  private frame(event: Record<string, JsonValue>): Uint8Array {
    if (event['sequence_number'] !== undefined) event['sequence_number'] = this.sequence++;
    return sseFrame(JSON.stringify(event), typeof event['type'] === 'string' ? event['type'] : undefined);
  }

  next(): void {
    this.usage = addUsage(this.usage, this.roundUsage);
    this.output = [...this.output, ...this.roundOutput];
    this.roundUsage = undefined;
    this.roundOutput = [];
    this.isFirst = false;
    this.items = new Map();
    this._isHiding = false;
    this.end = [];
  }

  last(): readonly Uint8Array[] {
    return this.end.splice(0).map((event) => this.frame(event));
  }
}

export function isSearch(item: JsonObject | null, { searchTool }: Screening): boolean {
  return item?.['type'] === 'function_call' && item['name'] === searchTool;
}

/**
 * The tools of an answer are those that its client sent, with what OpenAI adds to a function whose client left it
 * out.
 */
export function restoreTools(response: Record<string, JsonValue>, { tools }: Screening): void {
  if (response['tools'] === undefined) return;
  const repeated = new Map(listAt(response, 'tools').map((tool) => [tool['name'], tool]));
  const own = tools === null ? [] : (JSON.parse(tools) as JsonValue);
  response['tools'] = Array.isArray(own) ? own.map((tool) => completed(tool, repeated)) : own;
}

function completed(tool: JsonValue, repeated: ReadonlyMap<JsonValue | undefined, JsonObject>): JsonValue {
  if (!isJsonObject(tool) || tool['type'] !== 'function') return tool;
  const strict = repeated.get(tool['name'])?.['strict'] ?? true;
  const missing = Object.entries({ description: null, parameters: null, strict }).filter(
    ([name]) => tool[name] === undefined,
  );
  return { ...tool, ...Object.fromEntries(missing) };
}
