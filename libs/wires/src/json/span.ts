import { type JsonValue, parseExactJson } from '@sluice/core';
import {
  afterComma,
  afterSpace,
  closeBrace,
  closeBracket,
  endOf,
  letterN,
  openBrace,
  openBracket,
  quote,
} from './scan.js';

/** A member of an object in a JSON text, from where its name begins to where its value ends. */
interface SpanMember {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly value: JsonSpan;
}

/** A list that clients send again with every request, and what was read of it. */
export interface KnownList {
  readonly source: string;
  /** The list as a value of its own: its positions are those in `source`. */
  readonly span: JsonSpan;
  /** What a way of reading gave the first time. The name stands for the way. */
  once<T>(name: string, read: () => T): T;
}

/** What is known of a value without a look at its text; `unread` for nothing. */
const unread = Symbol('unread');

/** Where a value stands as a member, so that its place need not be looked for before it is needed. */
interface MemberOf {
  readonly object: JsonSpan;
  readonly name: string;
}

/** A list that stands apart from the text around it, and the place in that where it belongs. */
interface Apart {
  readonly list: KnownList;
  readonly at: number;
}

/** What stands in a text where a list belongs that is apart. */
export const empty = '[]';

/**
 * A value inside a JSON text: where it stands, so that it can be read or replaced without touching a byte beside it.
 * The text must be valid JSON (JSON.parse has read it); positions are of UTF-16 units. Never goes deeper than it is
 * asked, and not by recursion. A list of tools may stand apart, in a text of its own: its places are those in `text`
 * of its own span, and of the values in it.
 */
export class JsonSpan {
  private _members: readonly SpanMember[] | undefined;
  private _items: readonly JsonSpan[] | undefined;
  private _start: number;
  private _end: number;

  private constructor(
    readonly text: string,
    [start, end]: readonly [number, number],
    private readonly known: unknown = unread,
    private readonly memberOf: MemberOf | null = null,
    /** Whether what is known has every number as it was written. */
    private readonly isExact = false,
    /** The list of tools that this is, of which more may be known; null for any other value. */
    readonly repeated: KnownList | null = null,
    /** Of a whole text from which a list was taken. */
    readonly apart: Apart | null = null,
  ) {
    this._start = start;
    this._end = end;
  }

  /** The whole text. Throws SyntaxError where it is not JSON. */
  static of(text: string): JsonSpan {
    JSON.parse(text);
    return JsonSpan.whole(text);
  }

  /** The whole of a list, of which the value is known, and where its items begin and end by turns. */
  static ofList(
    list: KnownList,
    value: readonly unknown[],
    { places, isExact }: { readonly places: Uint32Array; readonly isExact: boolean },
  ): JsonSpan {
    const { source } = list;
    const span = new JsonSpan(source, [0, source.length], value, null, isExact, list);
    span._items = value.map(
      (item, at) => new JsonSpan(source, [places[2 * at] ?? 0, places[2 * at + 1] ?? 0], item, null, isExact),
    );
    return span;
  }

  /**
   * A whole text of which a list is known: what stands before the list and behind it. Null where these are no JSON,
   * or the list is not the member of this name of the outermost object.
   */
  static around(
    before: string,
    behind: string,
    { name, list }: { readonly name: string; readonly list: KnownList },
  ): JsonSpan | null {
    const text = `${before}${empty}${behind}`;
    try {
      JSON.parse(text);
    } catch {
      return null;
    }
    const at = before.length;
    const span = JsonSpan.whole(text, { list, at });
    if (span.member(name)?.start !== at) return null;
    span._members = span.members.map((member) =>
      member.value.start === at ? { ...member, value: list.span } : member,
    );
    return span;
  }

  private static whole(text: string, apart: Apart | null = null): JsonSpan {
    const start = afterSpace(text, 0);
    return new JsonSpan(text, [start, endOf(text, start)], unread, null, false, null, apart);
  }

  get start(): number {
    if (this._start < 0) this.locate();
    return this._start;
  }

  get end(): number {
    if (this._end < 0) this.locate();
    return this._end;
  }

  private locate(): void {
    const { object, name } = this.memberOf as MemberOf;
    const { value } = object.members.findLast((member) => member.name === name) as SpanMember;
    [this._start, this._end] = [value.start, value.end];
  }

  /** The value’s text as it was written. */
  get source(): string {
    if (this.apart === null) return this.text.slice(this.start, this.end);
    const { list, at } = this.apart;
    return this.text.slice(this.start, at) + list.source + this.text.slice(at + empty.length, this.end);
  }

  /** The value, with number literals that a double cannot hold kept as text. */
  get value(): JsonValue {
    return this.known !== unread && this.isExact ? (this.known as JsonValue) : parseExactJson(this.source);
  }

  get isObject(): boolean {
    return this.known === unread ? this.text.charCodeAt(this.start) === openBrace : this.ofObject() !== null;
  }

  get isArray(): boolean {
    return this.known === unread ? this.text.charCodeAt(this.start) === openBracket : Array.isArray(this.known);
  }

  get isString(): boolean {
    return this.known === unread ? this.text.charCodeAt(this.start) === quote : typeof this.known === 'string';
  }

  get isNull(): boolean {
    return this.known === unread ? this.text.charCodeAt(this.start) === letterN : this.known === null;
  }

  /** Members in the order in which they stand, repeated names included; none where this is not an object. */
  get members(): readonly SpanMember[] {
    return (this._members ??= this.isObject ? this.readMembers() : []);
  }

  /** Names of its members; a repeated one may stand once. */
  get memberNames(): readonly string[] {
    const own = this.ofObject();
    return own === null ? this.members.map(({ name }) => name) : Object.keys(own);
  }

  /** Items of an array; none where this is not an array. */
  get items(): readonly JsonSpan[] {
    return (this._items ??= this.isArray ? this.readItems() : []);
  }

  /** The member of this name; of a repeated name the last, as for JSON.parse. */
  member(name: string): JsonSpan | undefined {
    const own = this.ofObject();
    if (own === null) return this.members.findLast((member) => member.name === name)?.value;
    if (!Object.hasOwn(own, name)) return undefined;
    return new JsonSpan(this.text, [-1, -1], own[name], { object: this, name }, this.isExact);
  }

  /** The text of a string, undefined for anything else. */
  get string(): string | undefined {
    if (typeof this.known === 'string') return this.known;
    return this.isString ? (JSON.parse(this.source) as string) : undefined;
  }

  /** The object that is known; null where nothing is, or this is none. */
  private ofObject(): Readonly<Record<string, unknown>> | null {
    const { known } = this;
    const isObject = typeof known === 'object' && known !== null && !Array.isArray(known);
    return isObject ? (known as Readonly<Record<string, unknown>>) : null;
  }

  private readMembers(): SpanMember[] {
    const { text } = this;
    const members: SpanMember[] = [];
    for (let at = afterSpace(text, this.start + 1); text.charCodeAt(at) !== closeBrace;) {
      const nameEnd = endOf(text, at);
      const start = afterSpace(text, afterSpace(text, nameEnd) + 1);
      const value = new JsonSpan(text, [start, endOf(text, start)]);
      const { end } = value;
      members.push({ name: JSON.parse(text.slice(at, nameEnd)) as string, start: at, end, value });
      at = afterComma(text, end);
    }
    return members;
  }

  private readItems(): JsonSpan[] {
    const { text } = this;
    const items: JsonSpan[] = [];
    for (let at = afterSpace(text, this.start + 1); text.charCodeAt(at) !== closeBracket;) {
      const item = new JsonSpan(text, [at, endOf(text, at)]);
      items.push(item);
      at = afterComma(text, item.end);
    }
    return items;
  }
}
