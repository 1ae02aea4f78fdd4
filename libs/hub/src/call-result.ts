import { specTypeSchemas } from '@modelcontextprotocol/client';
import type { CallToolResult } from '@modelcontextprotocol/client';
import {
  contentKinds,
  cut,
  deepestJson,
  isDeeperThan,
  isJsonObject,
  parseExactJson,
  printable,
  ToolUserError,
} from '@sluice/core';
import type { ContentKind, JsonObject, JsonValue } from '@sluice/core';

/** UTF-8 bytes of a server's error text that a model gets to read. */
const maxErrorBytes = 2_048;

export class NoResultError extends Error {
  override readonly name = 'NoResultError';
}

/**
 * The result that an answer is; throws NoResultError if it is none. Most hold only texts, which need neither a schema
 * nor a copy.
 */
export function resultIn(answer: unknown): CallToolResult {
  if (isTexts(answer)) return answer;
  const read = specTypeSchemas.CallToolResult['~standard'].validate(withoutNulls(answer as JsonValue));
  if (read.issues !== undefined) throw new NoResultError(`It is no result of a tool: ${read.issues[0]?.message ?? ''}`);
  return read.value;
}

/**
 * Of a result and its blocks, members that some serialisers write as null where they have nothing to say. What is
 * structured is the tool’s own.
 */
function withoutNulls(answer: JsonValue): JsonValue {
  if (!isJsonObject(answer)) return answer;
  const { content } = answer;
  // Beside nothing else, null may be what the tool gave.
  const isAlone = !Array.isArray(content) || content.length === 0;
  const stated = Object.entries(answer).filter(
    ([name, value]) => value !== null || (isAlone && name === 'structuredContent'),
  );
  return Object.fromEntries(
    stated.map(([name, value]) => [name, name === 'content' ? blocksWithoutNulls(value) : value]),
  );
}

function blocksWithoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((one: JsonValue) => blocksWithoutNulls(one));
  if (!isJsonObject(value)) return value;
  const stated = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(stated.map(([name, member]) => [name, blocksWithoutNulls(member)]));
}

function isTexts(answer: unknown): answer is CallToolResult {
  const { content, isError, structuredContent } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  return (
    structuredContent === undefined &&
    (isError === undefined || typeof isError === 'boolean') &&
    Array.isArray(content) &&
    content.every((block: unknown) => {
      const { type, text } = (block ?? {}) as Readonly<Record<string, unknown>>;
      return type === 'text' && typeof text === 'string';
    })
  );
}

/**
 * What a tool call gave (M-22, M-30, M-103): the structured content if there is any; else the texts joined, as the
 * value they write if they are JSON; with other kinds of content a list of blocks: text of resources and links as it
 * is, of images, sounds and binary resources the kind, type and size. An error is thrown as ToolUserError, with the
 * server's text. `hide` takes out of texts what may not leave the server; null if there is nothing of the kind. Of
 * blocks whose kind does not leave the tool the value says that they are withheld.
 */
export function valueOf(
  result: CallToolResult,
  hide: ((text: string) => string) | null,
  kinds: readonly ContentKind[] = contentKinds,
): JsonValue {
  const said = kinds.includes('text') ? result.content : [];
  const texts = said.flatMap((block) => (block.type === 'text' ? [hide?.(block.text) ?? block.text] : []));
  const text = texts.join('\n');
  if (result.isError === true) throw new ToolUserError(shortened(text) || 'The tool failed and did not say why.');
  // What came over the wire as JSON is JSON; the SDK's type only does not say so.
  if (result.structuredContent !== undefined) {
    const value = withoutPrototype(result.structuredContent as JsonValue);
    return hide === null ? value : hidden(value, hide);
  }
  if (texts.length < result.content.length) {
    const blocks = result.content.map((block) =>
      kinds.includes(kindOf(block)) ? blockOf(block) : { type: block.type, withheld: true },
    );
    return hide === null ? blocks : hidden(blocks, hide);
  }
  return parsed(text);
}

/**
 * Whether the value is all that the result says: one text that is no JSON, and nothing beside it but the name of the
 * server.
 */
export function saysAll(value: JsonValue, result: CallToolResult): boolean {
  const [block, ...others] = result.content;
  return (
    typeof value === 'string' &&
    others.length === 0 &&
    block?.type === 'text' &&
    Object.keys(block).length === 2 &&
    Object.keys(result).every((name) => name === 'content' || name === 'isError' || name === '_meta') &&
    Object.keys(result._meta ?? {}).every((name) => name === serverInfo)
  );
}

/** The member of `_meta` by which a server names itself: a client hears that of the door that it asked. */
const serverInfo = 'io.modelcontextprotocol/serverInfo';

function withoutServerInfo(result: CallToolResult): CallToolResult {
  const { _meta: meta } = result;
  if (meta === undefined || !Object.hasOwn(meta, serverInfo)) return result;
  const { [serverInfo]: _, ...others } = meta;
  return { ...result, _meta: others };
}

/** Blocks of these kinds, in their order. */
export function blocksOf({ content }: CallToolResult, kinds: readonly ContentKind[]): CallToolResult['content'] {
  return content.filter((block) => kinds.includes(kindOf(block)));
}

/**
 * The whole result as JSON, of which `hide` takes out what may not leave the server. Without blocks of other kinds than
 * these; how many there were of each is in `_meta`.
 */
export function answerOf(
  result: CallToolResult,
  hide: ((text: string) => string) | null,
  kinds: readonly ContentKind[] = contentKinds,
): JsonObject {
  const answer = withoutPrototype(withholding(withoutServerInfo(result), kinds) as JsonValue) as JsonObject;
  return hide === null ? answer : (hidden(answer, hide) as JsonObject);
}

function withholding(result: CallToolResult, kinds: readonly ContentKind[]): CallToolResult {
  const content = blocksOf(result, kinds);
  if (content.length === result.content.length) return result;
  const counts = contentKinds.flatMap((kind) => {
    const count = kinds.includes(kind) ? 0 : blocksOf(result, [kind]).length;
    return count === 0 ? [] : [[kind, count] as const];
  });
  return { ...result, content, _meta: { ...result._meta, 'sluice/withheld': Object.fromEntries(counts) } };
}

function kindOf({ type }: CallToolResult['content'][number]): ContentKind {
  return type === 'resource_link' ? 'resource' : type;
}

/** A member of this name is an attack on readers that are not careful, and never a value. */
function withoutPrototype(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || !Object.hasOwn(value, '__proto__')) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== '__proto__'));
}

function blockOf(block: CallToolResult['content'][number]): JsonObject {
  const { type } = block;
  switch (block.type) {
    case 'text':
      return { type, text: block.text };
    case 'image':
    case 'audio':
      return { type, mimeType: block.mimeType, bytes: bytesOf(block.data) };
    case 'resource_link':
      return {
        type,
        ...present({ uri: block.uri, name: block.name, description: block.description, mimeType: block.mimeType }),
      };
    case 'resource': {
      const { uri, mimeType } = block.resource;
      const held = 'text' in block.resource ? { text: block.resource.text } : { bytes: bytesOf(block.resource.blob) };
      return { type, ...present({ uri, mimeType }), ...held };
    }
    default:
      return { type };
  }
}

function present(members: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Of a base64 text, what it decodes to. */
function bytesOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}

export function hidden(value: JsonValue, hide: (text: string) => string): JsonValue {
  return isDeeperThan(value, deepestJson) ? value : textsHidden(value, hide); // what is too deep the runner refuses
}

/** Text by text, since what is hidden could be a number’s digits or a part of the JSON around it. */
function textsHidden(value: JsonValue, hide: (text: string) => string): JsonValue {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => textsHidden(item, hide));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [hide(name), textsHidden(member, hide)]));
}

/** At most 2 KB of a server's text, cut between characters, without what would steer a terminal. */
export function shortened(text: string): string {
  const shown = printable(cut(text, maxErrorBytes));
  const bytes = Buffer.from(shown, 'utf8');
  if (text.length <= maxErrorBytes && bytes.length <= maxErrorBytes) return shown;
  return `${bytes
    .subarray(0, maxErrorBytes - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`;
}

/** Trying is costly where it fails, and most texts show by their first character that they are no JSON. */
const likeJson = /^\s*(?:[[{"\d-]|(?:true|false|null)\s*$)/;

function parsed(text: string): JsonValue {
  if (!likeJson.test(text)) return text;
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
