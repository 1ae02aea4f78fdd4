import {
  cut,
  isJsonObject,
  parseExactJson,
  printable,
  ToolAnswerUnreadableError,
  ToolConnectionDeniedError,
  ToolFailedError,
  ToolUnavailableError,
  ToolUserError,
} from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import type { ReceivedAnswer } from './guarded-requests.js';

/** Characters of a server’s error that a model reads, and how many are looked at to find them. */
const mostErrorCharacters = 1_000;
const lookedAt = 20_000;
/** Seconds that a server may ask to wait for, as far as they are repeated. */
const longestWait = 86_400;

/** What a call gives: JSON as its value, a text as a text, of anything else kind and size. */
export function valueOf({ status, headers, bytes }: ReceivedAnswer): JsonValue {
  if (bytes.byteLength === 0) return { status };
  const header = headers.get('content-type') ?? '';
  const type = (header.split(';')[0] ?? '').trim().toLowerCase();
  if (isJson(type)) {
    try {
      return withoutPrototype(parseExactJson(decoded(bytes, header)));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new ToolAnswerUnreadableError(`It answered ${type} that is no JSON.`, { cause: error });
    }
  }
  if (isText(type)) return decoded(bytes, header);
  return { status, mimeType: type || 'application/octet-stream', bytes: bytes.byteLength };
}

/** What to throw for an answer that is no success, by its status. Nothing for one that is. */
export function refusalOf(
  answer: ReceivedAnswer,
  {
    host,
    isRead,
    isAuthenticated,
  }: { readonly host: string; readonly isRead: boolean; readonly isAuthenticated: boolean },
): Error | null {
  const { status, statusText } = answer;
  if (status >= 200 && status < 300) return null;
  const name = `${String(status)}${statusText === '' ? '' : ` ${printable(statusText.slice(0, 60))}`}`;
  const said = messageIn(answer);
  const sentence = said === '' ? `${host} answered ${name}.` : `${host} answered ${name}: ${said}`;
  // A gateway answers 503 too where the server behind it ended on the way.
  if (status === 429 || (status === 503 && isRead)) {
    const seconds = waitIn(answer.headers.get('retry-after'));
    const wait = seconds === null ? '' : ` It may be called again in ${String(seconds)} s.`;
    return new ToolUnavailableError(`${host} answered ${name} and did nothing.${wait}`);
  }
  if (status === 403 && isAuthenticated)
    return new ToolConnectionDeniedError(`${host} does not permit the call with the credential of its connection.`);
  if (status >= 400 && status < 500 && status !== 408) return new ToolUserError(sentence);
  return new ToolFailedError(/[.!?…]$/.test(sentence) ? sentence : `${sentence}.`);
}

/** What the server says went wrong: the member that most use for it, else the whole. */
function messageIn(answer: ReceivedAnswer): string {
  let value: JsonValue;
  try {
    value = valueOf(answer);
  } catch {
    return '';
  }
  if (
    answer.bytes.byteLength === 0 ||
    (isJsonObject(value) && value['mimeType'] !== undefined && !isJson(textType(answer)))
  )
    return '';
  const text = typeof value === 'string' ? withoutTags(value.slice(0, lookedAt)) : JSON.stringify(value);
  const shown = printable(text.slice(0, lookedAt)).replace(/\s+/g, ' ').trim();
  return shown.length > mostErrorCharacters ? `${cut(shown, mostErrorCharacters - 1)}…` : shown;
}

function textType({ headers }: ReceivedAnswer): string {
  return ((headers.get('content-type') ?? '').split(';')[0] ?? '').trim().toLowerCase();
}

function withoutTags(text: string): string {
  return /^\s*<(?:!doctype|html)/i.test(text)
    ? text.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ').replace(/<[^<>]*>/g, ' ')
    : text;
}

/** Seconds, or a date. */
function waitIn(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d{1,9}$/.test(header.trim())
    ? Number(header)
    : Math.ceil((Date.parse(header) - Date.now()) / 1_000);
  return Number.isFinite(seconds) && seconds >= 0 && seconds <= longestWait ? seconds : null;
}

function isJson(type: string): boolean {
  return /^(?:application|text)\/(?:[\w.-]+\+)?json$/.test(type);
}

function isText(type: string): boolean {
  return (
    type.startsWith('text/') ||
    /^application\/(?:[\w.-]+\+)?(?:xml|yaml)$|^application\/(?:x-)?(?:ndjson|yaml|javascript)$/.test(type)
  );
}

function decoded(bytes: Uint8Array, header: string): string {
  const [, charset = 'utf-8'] = /charset="?([\w-]{1,40})"?/i.exec(header) ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** A member of this name is an attack on readers that are not careful, and never a value. */
function withoutPrototype(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || !Object.hasOwn(value, '__proto__')) return value;
  const members = Object.entries(value).filter(([name]) => name !== '__proto__');
  return Object.fromEntries(members) as JsonObject;
}
