import { isJsonObject, type JsonObject } from '@sluice/core';
import { type Body, readBody } from '../json/body.js';
import type { JsonSpan } from '../json/span.js';
import type { DecodedRequest, Message, MessagePart, WireRequest, WireTool } from '../types.js';

/** A request that is not of its wire; the sentence names the field, and repeats nothing of what stands in it. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
}

/** Reads a client’s request off its text, and gathers the paths of what the neutral form does not hold. */
export class RequestReader {
  readonly root: JsonSpan;
  private readonly _beyond: string[] = [];

  constructor(body: Body) {
    try {
      this.root = readBody(body);
    } catch {
      throw new RequestFault('The request’s body is not JSON.');
    }
    if (!this.root.isObject) throw new RequestFault('The request’s body must be a JSON object.');
  }

  beyond(path: string): void {
    this._beyond.push(path);
  }

  /** Notes the members that are not held. */
  holds(span: JsonSpan, at: string, names: readonly string[]): void {
    for (const name of span.memberNames) if (!names.includes(name)) this.beyond(at === '' ? name : `${at}.${name}`);
  }

  text(span: JsonSpan | undefined, at: string): string {
    return this.optionalText(span, at) ?? fail(at, 'a text');
  }

  optionalText(span: JsonSpan | undefined, at: string): string | undefined {
    if (span === undefined || span.isNull) return undefined;
    return span.string ?? fail(at, 'a text');
  }

  number(span: JsonSpan | undefined, at: string): number | null {
    if (span === undefined || span.isNull) return null;
    const value: unknown = JSON.parse(span.source);
    return typeof value === 'number' ? value : fail(at, 'a number');
  }

  flag(span: JsonSpan | undefined, at: string): boolean {
    if (span === undefined || span.isNull) return false;
    const value: unknown = JSON.parse(span.source);
    return typeof value === 'boolean' ? value : fail(at, '`true` or `false`');
  }

  object(span: JsonSpan, at: string): JsonSpan {
    return span.isObject ? span : fail(at, 'an object');
  }

  items(span: JsonSpan | undefined, at: string): readonly JsonSpan[] {
    if (span === undefined || span.isNull) return [];
    return span.isArray ? span.items : fail(at, 'a list');
  }

  /** A list of objects. */
  objects(span: JsonSpan | undefined, at: string): readonly JsonSpan[] {
    return this.items(span, at).map((item, index) => this.object(item, `${at}[${String(index)}]`));
  }

  texts(span: JsonSpan | undefined, at: string): readonly string[] {
    return this.items(span, at).map((item, index) => this.text(item, `${at}[${String(index)}]`));
  }

  /** What is read of a list of tools, once for all requests that repeat it. The name stands for the way it is read. */
  once<T>(list: JsonSpan | undefined, name: string, read: () => T): T {
    if (list === undefined || list.repeated === null) return read();
    const { value, beyond } = list.repeated.once(name, () => {
      const before = this._beyond.length;
      const first = read();
      return { value: first, beyond: this._beyond.splice(before) };
    });
    for (const path of beyond) this.beyond(path);
    return value;
  }

  schema(span: JsonSpan | undefined, at: string): JsonObject {
    if (span === undefined || span.isNull) return { type: 'object', properties: {} };
    const { value } = span;
    return isJsonObject(value) ? value : fail(at, 'a JSON Schema');
  }

  decoded(request: WireRequest): DecodedRequest {
    const messages = withNamesOfResults(request.messages);
    return { ...request, messages, query: queryOf(messages), beyond: this._beyond };
  }
}

function fail(at: string, expected: string): never {
  throw new RequestFault(`\`${at}\` must be ${expected}.`);
}

/** Most wires name the tool of a result by its call alone. */
function withNamesOfResults(messages: readonly Message[]): readonly Message[] {
  const names = new Map<string, string>();
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part): MessagePart => {
      if (part.type === 'call') names.set(part.toolCallId, part.name);
      if (part.type !== 'result' || part.name !== null) return part;
      return { ...part, name: names.get(part.toolCallId) ?? null };
    }),
  }));
}

function queryOf(messages: readonly Message[]): string {
  const isText = (part: MessagePart) => part.type === 'text';
  const last = messages.findLast(({ role, parts }) => role === 'user' && parts.some(isText));
  return last?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') ?? '';
}

/** Puts neighbours of one role into one message, as the wires without roles for results need it. */
export function inTurns(messages: readonly Message[]): readonly Message[] {
  const turns: { role: Message['role']; parts: MessagePart[] }[] = [];
  for (const { role, parts } of messages) {
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts: [...parts] });
  }
  return turns;
}

/** What a request holds that its body says nothing of. */
export const silent: Omit<WireRequest, 'model' | 'messages' | 'tools'> = {
  instructions: '',
  toolChoice: null,
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  stopSequences: [],
  stream: false,
};

export function toolOf(name: string, description: string | undefined, inputSchema: JsonObject): WireTool {
  return { name, description: description ?? '', inputSchema };
}

/** The names of the tools of a list, null for what is none of the client’s. */
export function namesIn(
  list: JsonSpan,
  wire: string,
  nameOf: (tool: JsonSpan) => string | null,
): readonly (string | null)[] {
  const read = (): readonly (string | null)[] => list.items.map(nameOf);
  return list.repeated?.once(`names of ${wire}`, read) ?? read();
}
