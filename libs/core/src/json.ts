/** Any value that JSON can carry: finite numbers, no cycles, no undefined. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** A digest of a text as lower-case hexadecimal. Passed in, so that core needs no library for it. */
export type Digest = (text: string) => string;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Whether the text is JSON, of whatever kind. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

declare global {
  interface JSON {
    /** The text stands in JSON.stringify's output as it is; a number, a string, true, false or null. */
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): boolean;
    parse(
      text: string,
      reviver: (key: string, value: JsonValue, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** A number that is kept as the text it was written with (parseExactJson). */
interface RawNumber {
  readonly rawJSON: string;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return JSON.isRawJSON(value);
}

/** JSON text with sorted keys and no white space: equal values give equal bytes, so it can be hashed and compared. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => canonicalJson(item)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/** Whether two values have the same canonical JSON text. */
export function equalJson(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item: JsonValue, place) => equalJson(item, other[place] as JsonValue))
    );
  if (isRawNumber(one)) return isRawNumber(other) && one.rawJSON === other.rawJSON;
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && equalJson(one[name] as JsonValue, other[name] as JsonValue))
  );
}

/** Bytes of a text in UTF-8, without a library: core has none. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && at + 1 < text.length) {
      bytes += 4;
      at++;
    } else bytes += 3;
  }
  return bytes;
}
