import { isJsonObject } from '@sluice/core';
import type { JsonValue } from '@sluice/core';

/** A block of a result’s content, as the protocol has it. */
export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource';
      readonly resource: { readonly uri: string; readonly mimeType?: string } & (
        { readonly text: string } | { readonly blob: string }
      );
    }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string };

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The blocks that a result is, if it is a list of nothing else: so a tool gives a client images, sounds and
 * resources. Null for any other value, which is sent as its JSON text.
 */
export function blocksIn(value: JsonValue): Block[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  const blocks = value.map(blockOf);
  return blocks.every((block) => block !== null) && blocks.some(({ type }) => type !== 'text') ? blocks : null;
}

function blockOf(value: JsonValue): Block | null {
  if (!isJsonObject(value)) return null;
  const { type, text, data, mimeType, uri, name } = value;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type, text } : null;
    case 'image':
    case 'audio':
      return isBase64(data) && typeof mimeType === 'string' ? { type, data, mimeType } : null;
    case 'resource':
      return resourceIn(value['resource'] ?? value);
    case 'resource_link':
      return typeof uri === 'string' && typeof name === 'string' ? { type, uri, name } : null;
    default:
      return null;
  }
}

/** As the protocol has it, or as the hub writes one of a server’s. */
function resourceIn(value: JsonValue): Block | null {
  if (!isJsonObject(value)) return null;
  const { uri, mimeType, text, blob } = value;
  if (typeof uri !== 'string') return null;
  const named = typeof mimeType === 'string' ? { uri, mimeType } : { uri };
  if (typeof text === 'string') return { type: 'resource', resource: { ...named, text } };
  return isBase64(blob) ? { type: 'resource', resource: { ...named, blob } } : null;
}

function isBase64(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && base64.test(value);
}
