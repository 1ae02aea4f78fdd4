import { isJsonObject } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';

/** References that lead to others. */
const longestChain = 32;

export function objectIn(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function listIn(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

export function textIn(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** What a JSON pointer of a reference (`#/components/…`) names; undefined where nothing stands there. */
function pointed(document: JsonObject, reference: string): JsonValue | undefined {
  if (reference === '#') return document;
  if (!reference.startsWith('#/')) return undefined;
  let value: JsonValue | undefined = document;
  for (const step of reference.slice(2).split('/')) {
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = (value as readonly JsonValue[])[Number(key)];
    else if (isJsonObject(value)) value = Object.hasOwn(value, key) ? value[key] : undefined;
    else return undefined;
  }
  return value;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The object itself, or the one that its reference leads to; a sentence where there is none. */
export function followed(document: JsonObject, value: JsonValue | undefined): JsonObject | string {
  let at = value;
  for (let steps = 0; isJsonObject(at) && typeof at['$ref'] === 'string'; steps++) {
    const reference: string = at['$ref'];
    if (steps === longestChain) return `The reference ${reference} leads through more than ${longestChain} others.`;
    at = pointed(document, reference);
    if (at === undefined) return `The reference ${reference} names nothing that is in the document.`;
  }
  return isJsonObject(at) ? at : 'What should be an object is none.';
}
