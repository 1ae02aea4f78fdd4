import { isJsonObject, isRawNumber } from '../json.js';
import type { JsonObject, JsonValue } from '../json.js';
import { fitsIn, jsonBytes } from '../plain-json.js';
import type { ContentName } from '../ports/content.js';
import { ToolUserError } from './types.js';

/** The tool by which a model reads results that are longer than a page. */
export const readResultType = 'read_result';

/** Bytes that a page has at least; where a result may have fewer there are no pages. */
export const leastPageBytes = 2_048;

/** Digits of a hash by which a model names the content. */
const nameDigits = 16;

/** Of a page, what is not its text or its members: names, numbers, the note. */
const formBytes = 640;

/** Bytes of a member’s name that a page shows whole, and characters of a longer one. */
const longestName = 256;
const shownOfName = 60;

/** Where a page begins. */
export interface PageStart {
  /** A JSON pointer into the value; '' for the whole. */
  readonly path: string;
  /** The line of a text, from 1; the item of a list or member of an object, from 0. Null for the first. */
  readonly from: number | null;
  /** In a line longer than a page, the character to begin at, from 1. */
  readonly character: number;
}

/** What stands in a record in place of a longer result. */
export function firstPage(value: JsonValue, name: ContentName, mostBytes: number): JsonObject {
  const content = shortName(name);
  const note = `The result has ${name.size} bytes, more than a step has room for. This is its first page; ${readResultType} reads on, with "content": "${content}". Where you do not have it, ask for less.`;
  return { note, ...pageOf(value, name, { path: '', from: null, character: 1 }, mostBytes - 320) };
}

/** As models write it: enough of the hash to find it among what a run has. */
function shortName({ hash }: Pick<ContentName, 'hash'>): string {
  return hash.slice(0, nameDigits);
}

/**
 * A page of a value: of a text whole lines, of a list its items, of an object its members. Items and members that no
 * page has room for are named with path, kind and size, and as much of them as there is room for. Throws ToolUserError
 * where the value has no such place.
 */
export function pageOf(value: JsonValue, name: ContentName, start: PageStart, mostBytes: number): JsonObject {
  const { path, character } = start;
  const at = valueAt(value, path);
  const head = { content: shortName(name), type: name.type, size: name.size, ...(path === '' ? {} : { path }) };
  const room = mostBytes - formBytes - 2 * jsonBytes(path, Infinity);
  if (room < 64) throw new ToolUserError('The page has no room for so long a path.');
  if (!isContainer(at)) return { ...head, ...textPage(textOf(at), start.from ?? 1, character, room) };
  const from = start.from ?? 0;
  if (from < 0 || (from > 0 && from >= countOf(at)))
    throw new ToolUserError(`There is no ${from}: it has ${countOf(at)}, counted from 0.`);
  const { shown, taken } = outline(at, path, from, room, room);
  // A page that ends where it began would be asked for again without an end.
  if (taken === 0 && from < countOf(at))
    throw new ToolUserError(`The page has no room for ${from} beside so long a path. Go on from ${from + 1}.`);
  return { ...head, ...shown };
}

type Container = JsonObject | readonly JsonValue[];

function isContainer(value: JsonValue): value is Container {
  return typeof value === 'object' && value !== null && !isRawNumber(value);
}

/** Of a number with thousands of digits, too. */
function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function countOf(value: Container): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

function valueAt(value: JsonValue, path: string): JsonValue {
  if (path === '') return value;
  if (!path.startsWith('/')) throw new ToolUserError('A path begins with "/", such as "/rows/0".');
  let at: JsonValue | undefined = value;
  for (const part of path.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = /^(0|[1-9]\d*)$/.test(key) ? (at[Number(key)] as JsonValue | undefined) : undefined;
    else at = isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    if (at === undefined) throw new ToolUserError(`There is nothing at ${JSON.stringify(path.slice(0, 200))}.`);
  }
  return at;
}

function textPage(text: string, from: number, character: number, room: number): JsonObject {
  const lines = lineCount(text);
  const line = lineStart(text, from);
  if (line === null) throw new ToolUserError(`There is no line ${from}: the text has ${lines}, counted from 1.`);
  const begin = line + character - 1;
  const lineEnd = text.indexOf('\n', line);
  if (character < 1 || (character > 1 && begin >= (lineEnd === -1 ? text.length : lineEnd)))
    throw new ToolUserError(`The line ${from} has no character ${character}; the first one is 1.`);
  const end = pageEnd(text, begin, room);
  const shown = text.slice(begin, end);
  return {
    kind: 'text',
    ...{ lines, from, ...(character === 1 ? {} : { character }) },
    text: shown,
    next: end >= text.length ? null : nextPlace(shown, from, character),
  };
}

function nextPlace(shown: string, from: number, character: number): JsonObject {
  const breaks = shown.split('\n').length - 1;
  if (breaks === 0) return { from, character: character + shown.length };
  const rest = shown.length - shown.lastIndexOf('\n') - 1;
  return { from: from + breaks, ...(rest === 0 ? {} : { character: rest + 1 }) };
}

/** As far as the room goes: to the end of a line, or within one that has no end in it. */
function pageEnd(text: string, begin: number, room: number): number {
  let least = 0;
  let most = Math.min(text.length - begin, room);
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fitsIn(text.slice(begin, begin + middle), room)) least = middle;
    else most = middle - 1;
  }
  const end = begin + least;
  if (end >= text.length) return text.length;
  const lineEnd = text.lastIndexOf('\n', end - 1);
  if (lineEnd >= begin) return lineEnd + 1;
  const isSplit = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(end));
  return isSplit && end - 1 > begin ? end - 1 : end;
}

function lineCount(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return text.endsWith('\n') ? count : count + 1;
}

/** Where a line begins; null where there are not so many. */
function lineStart(text: string, line: number): number | null {
  if (line < 1) return null;
  let start = 0;
  for (let n = 1; n < line; n++) {
    const end = text.indexOf('\n', start);
    if (end === -1 || end + 1 >= text.length) return null;
    start = end + 1;
  }
  return start;
}

/**
 * A list or an object from a place on, in at most so many bytes. What fits in no page is itself given as an outline,
 * in up to half of what is left.
 */
function outline(
  value: Container,
  path: string,
  from: number,
  room: number,
  pageRoom: number,
): { readonly shown: JsonObject; readonly taken: number } {
  const isList = Array.isArray(value);
  const names = isList ? null : Object.keys(value);
  const count = countOf(value);
  const shown: (readonly [string, JsonValue])[] = [];
  let left = room;
  let at = from;
  for (; at < count; at++) {
    const name = names === null ? String(at) : (names[at] as string);
    const member = (value as JsonObject)[name] as JsonValue;
    const isLong = !fitsIn(name, longestName);
    const key = isLong ? `${name.slice(0, shownOfName)}… (${at})`.toWellFormed() : name;
    const keyBytes = names === null ? 1 : jsonBytes(key, Infinity) + 2;
    const given = fitsIn(member, left - keyBytes)
      ? member
      : fitsIn(member, pageRoom / 2)
        ? null // on the next page
        : larger(member, isLong ? null : `${path}/${escaped(name)}`, left - keyBytes, pageRoom);
    if (given === null || !fitsIn(given, left - keyBytes)) break;
    left -= keyBytes + jsonBytes(given, Infinity);
    shown.push([key, given]);
  }
  const next = at < count ? at : null;
  const members = isList ? { items: shown.map(([, one]) => one) } : { members: Object.fromEntries(shown) };
  return { shown: { kind: isList ? 'list' : 'object', count, from, ...members, next }, taken: shown.length };
}

/** What stands for a member that no page has room for. Null where there is no room for that either. */
function larger(value: JsonValue, path: string | null, room: number, pageRoom: number): JsonObject | null {
  const bytes = jsonBytes(value, Infinity);
  const bare = isContainer(value)
    ? { path, kind: Array.isArray(value) ? 'list' : 'object', count: countOf(value), bytes }
    : { path, kind: 'text', lines: lineCount(textOf(value)), bytes };
  const own = jsonBytes({ larger: bare }, Infinity);
  if (own > room) return null;
  const inside = Math.floor(room / 2) - own - 96;
  if (path === null || inside < 256 || !isContainer(value)) return { larger: bare };
  const { shown, taken } = outline(value, path, 0, inside, pageRoom);
  return { larger: taken === 0 ? bare : { ...bare, ...shown } };
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
