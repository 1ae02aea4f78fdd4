import { type JsonValue, parseExactJson } from '@sluice/core';
import { type RepeatedList, RepeatedLists, shortestRepeated } from './repeated-lists.js';

/** A member of an object in a JSON text; `start` is where its name begins. */
interface SpanMember {
  readonly name: string;
  readonly start: number;
  readonly value: JsonSpan;
}

/**
 * A value inside a JSON text: where it stands, so that it can be read or replaced without touching a byte beside it.
 * The text must be valid JSON (JSON.parse has read it); positions are of UTF-16 units. Never goes deeper than it is
 * asked, and not by recursion.
 */
export class JsonSpan {
  private _members: readonly SpanMember[] | undefined;
  private _items: readonly JsonSpan[] | undefined;

  private constructor(
    readonly text: string,
    readonly start: number,
    readonly end: number,
    /** What is known of a list of tools that came before; null for any other value. */
    readonly repeated: RepeatedList | null = null,
  ) {}

  private static readonly lists = new RepeatedLists();

  /**
   * The last text that was read, until the event loop turns: a request is looked at several times, and may have
   * megabytes.
   */
  private static last: JsonSpan | null = null;

  /** The whole text. Throws SyntaxError where it is not JSON. */
  static of(text: string): JsonSpan {
    if (JsonSpan.last?.text === text) return JsonSpan.last;
    const span = JsonSpan.aroundRepeated(text) ?? JsonSpan.read(text);
    if (JsonSpan.last === null)
      setImmediate(() => {
        JsonSpan.last = null;
      });
    JsonSpan.last = span;
    return span;
  }

  private static read(text: string): JsonSpan {
    JSON.parse(text);
    const start = afterSpace(text, 0);
    const span = new JsonSpan(text, start, endOf(text, start));
    if (text.length < shortestRepeated) return span;
    const tools = span.member(toolsName);
    const list = tools?.isArray === true ? JsonSpan.lists.add(tools.source) : undefined;
    if (tools === undefined || list === undefined) return span;
    const repeated = new JsonSpan(text, tools.start, tools.end, list);
    span._members = span.members.map((member) => (member.value === tools ? { ...member, value: repeated } : member));
    return span;
  }

  /**
   * A text with a list of tools that came before: only what stands around the list is read. Null where there is none.
   */
  private static aroundRepeated(text: string): JsonSpan | null {
    if (text.length < shortestRepeated) return null;
    const name = `"${toolsName}"`;
    let at = text.indexOf(name);
    for (let look = 0; look < mostLooks && at !== -1; look++) {
      const behind = afterSpace(text, at + name.length);
      const start = afterSpace(text, behind + 1);
      const list = text.charCodeAt(behind) === colon ? JsonSpan.lists.at(text, start) : undefined;
      const span = list === undefined ? null : JsonSpan.around(text, start, list);
      if (span !== null) return span;
      at = text.indexOf(name, behind);
    }
    return null;
  }

  /**
   * The text is JSON where it is with an empty list in that place, if that list is a value there: it might be inside
   * a string, or deeper down. Null where it is not the tools of the outermost object.
   */
  private static around(text: string, start: number, list: RepeatedList): JsonSpan | null {
    const { length } = list.source;
    const rest = `${text.slice(0, start)}[]${text.slice(start + length)}`;
    try {
      JSON.parse(rest);
    } catch {
      return null;
    }
    const begin = afterSpace(rest, 0);
    const short = new JsonSpan(rest, begin, endOf(rest, begin));
    if (short.member(toolsName)?.start !== start) return null;
    const moved = (place: number): number => (place > start ? place + length - 2 : place);
    const span = new JsonSpan(text, begin, moved(short.end));
    span._members = short.members.map((member) => {
      const { value } = member;
      const repeated = value.start === start ? list : null;
      return {
        name: member.name,
        start: moved(member.start),
        value: new JsonSpan(text, moved(value.start), moved(value.end), repeated),
      };
    });
    return span;
  }

  /** The value's text as it was written. */
  get source(): string {
    return this.text.slice(this.start, this.end);
  }

  /** The value, with number literals that a double cannot hold kept as text. */
  get value(): JsonValue {
    return parseExactJson(this.source);
  }

  get isObject(): boolean {
    return this.text.charCodeAt(this.start) === openBrace;
  }

  get isArray(): boolean {
    return this.text.charCodeAt(this.start) === openBracket;
  }

  get isString(): boolean {
    return this.text.charCodeAt(this.start) === quote;
  }

  get isNull(): boolean {
    return this.text.charCodeAt(this.start) === letterN;
  }

  /** Members in the order in which they stand, repeated names included; none where this is not an object. */
  get members(): readonly SpanMember[] {
    return (this._members ??= this.isObject ? this.readMembers() : []);
  }

  /** Items of an array; none where this is not an array. */
  get items(): readonly JsonSpan[] {
    return (this._items ??= this.isArray ? this.readItems() : []);
  }

  /** The member of this name; of a repeated name the last, as for JSON.parse. */
  member(name: string): JsonSpan | undefined {
    return this.members.findLast((member) => member.name === name)?.value;
  }

  /** The text of a string, undefined for anything else. */
  get string(): string | undefined {
    return this.isString ? (JSON.parse(this.source) as string) : undefined;
  }

  private readMembers(): SpanMember[] {
    const { text } = this;
    const members: SpanMember[] = [];
    for (let at = afterSpace(text, this.start + 1); text.charCodeAt(at) !== closeBrace;) {
      const nameEnd = endOf(text, at);
      const start = afterSpace(text, afterSpace(text, nameEnd) + 1);
      const value = new JsonSpan(text, start, endOf(text, start));
      members.push({ name: JSON.parse(text.slice(at, nameEnd)) as string, start: at, value });
      at = afterComma(text, value.end);
    }
    return members;
  }

  private readItems(): JsonSpan[] {
    const { text, start, repeated } = this;
    if (repeated === null) return this.lookForItems();
    const { places } = repeated;
    if (places === null) {
      const items = this.lookForItems();
      repeated.places = Uint32Array.from(items.flatMap((item) => [item.start - start, item.end - start]));
      return items;
    }
    const items: JsonSpan[] = [];
    for (let at = 0; at + 1 < places.length; at += 2)
      items.push(new JsonSpan(text, start + (places[at] ?? 0), start + (places[at + 1] ?? 0)));
    return items;
  }

  private lookForItems(): JsonSpan[] {
    const { text } = this;
    const items: JsonSpan[] = [];
    for (let at = afterSpace(text, this.start + 1); text.charCodeAt(at) !== closeBracket;) {
      const item = new JsonSpan(text, at, endOf(text, at));
      items.push(item);
      at = afterComma(text, item.end);
    }
    return items;
  }
}

/** The member whose lists are held. A text that names it more often is read whole. */
const toolsName = 'tools';
const mostLooks = 4;

const colon = 0x3a;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const letterN = 0x6e;

function afterSpace(text: string, at: number): number {
  for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;)
    code = text.charCodeAt(++at);
  return at;
}

/** Where the next member or item begins, or its bracket closes. */
function afterComma(text: string, at: number): number {
  const next = afterSpace(text, at);
  return text.charCodeAt(next) === comma ? afterSpace(text, next + 1) : next;
}

/** Where the value that begins here ends. */
function endOf(text: string, start: number): number {
  const first = text.charCodeAt(start);
  if (first === quote) return endOfString(text, start);
  if (first !== openBrace && first !== openBracket) return endOfScalar(text, start);
  let depth = 0;
  for (let at = start; ; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === openBrace || code === openBracket) depth++;
    else if ((code === closeBrace || code === closeBracket) && --depth === 0) return at + 1;
  }
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}

function endOfScalar(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at++;
  return at;
}
