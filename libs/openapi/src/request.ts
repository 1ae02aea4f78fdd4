import { randomUUID } from 'node:crypto';
import { isJsonObject, quote, ToolUserError } from '@sluice/core';
import type { HttpBody, HttpOperation, HttpParameter, JsonObject, JsonValue, ParameterStyle } from '@sluice/core';
import type { SentRequest } from './guarded-requests.js';

type Written = readonly [name: string, value: string];

/**
 * The request that a call is. Throws ToolUserError where an argument cannot stand where it goes, as a path segment
 * that would lead elsewhere.
 */
export function requestFor(operation: HttpOperation, base: string, args: JsonObject): SentRequest {
  const { method, path, parameters, body } = operation;
  const values = parameters.flatMap((parameter) => {
    const value = args[parameter.argument ?? parameter.name];
    return value === undefined || (value === null && parameter.in !== 'path') ? [] : [[parameter, value] as const];
  });
  const of = (place: HttpParameter['in']) => values.filter(([parameter]) => parameter.in === place);
  const filled = path.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const found = of('path').find(([parameter]) => parameter.name === name);
    if (found === undefined) throw new ToolUserError(`The argument for ${quote(name)} in the path is missing.`);
    return segment(...found);
  });
  const query = of('query').flatMap(([parameter, value]) => pairs(parameter.name, value, parameter));
  const cookies = of('cookie').flatMap(([parameter, value]) => pairs(parameter.name, value, parameter));
  const url = new URL(`${base.replace(/\/+$/, '')}${filled}`);
  const written = queryText(query);
  if (written !== '') url.search = url.search === '' ? `?${written}` : `${url.search}&${written}`;
  const headers = of('header').map(([parameter, value]): Written => [parameter.name, headerValue(parameter, value)]);
  const sent = body === undefined ? null : bodyFor(body, args[body.argument]);
  return {
    method,
    url,
    headers: [
      ['accept', 'application/json, text/*;q=0.9, */*;q=0.1'],
      ...headers,
      ...(cookies.length === 0 ? [] : [['cookie', cookies.map(cookieText).join('; ')] as const]),
      ...(sent === null ? [] : [['content-type', sent.contentType] as const]),
    ],
    body: sent?.body ?? null,
  };
}

/** A value in the path: encoded, so that it is one segment, and never one that stands for another folder. */
function segment({ name, style, explode }: HttpParameter, value: JsonValue): string {
  const text = pathText(name, value, style, explode);
  if (text === '') throw new ToolUserError(`The argument ${quote(name)} stands in the path and may not be empty.`);
  if (/^\.{1,2}$/.test(text)) throw new ToolUserError(`The argument ${quote(name)} may not be ${quote(text)}.`);
  return text;
}

function pathText(name: string, value: JsonValue, style: HttpParameter['style'], explode: boolean): string {
  if (style === 'json') return encoded(JSON.stringify(value));
  const key = encoded(name);
  switch (style) {
    case 'label':
      return value === null ? '' : `.${joined(value, explode, explode ? '.' : ',')}`;
    case 'matrix': {
      if (explode && Array.isArray(value))
        return value.map((one: JsonValue) => `;${key}=${encoded(plain(one))}`).join('');
      if (explode && isJsonObject(value))
        return Object.entries(value)
          .map(([of, one]) => `;${encoded(of)}=${encoded(plain(one))}`)
          .join('');
      return `;${key}=${joined(value, false, ',')}`;
    }
    default:
      return joined(value, explode, ',');
  }
}

/** Items with a separator between them; members of an object as `name,value`, or `name=value` where it is exploded. */
function joined(
  value: JsonValue,
  explode: boolean,
  separator: string,
  write: (text: string) => string = encoded,
): string {
  if (Array.isArray(value)) return value.map((one: JsonValue) => write(plain(one))).join(separator);
  if (!isJsonObject(value)) return write(plain(value));
  return Object.entries(value)
    .map(([name, one]) => `${write(name)}${explode ? '=' : separator}${write(plain(one))}`)
    .join(separator);
}

/** Names and values of a query, a cookie or a form, not encoded. */
export function pairs(
  name: string,
  value: JsonValue,
  { style, explode }: { readonly style: ParameterStyle | 'json'; readonly explode: boolean },
): readonly Written[] {
  if (style === 'json') return [[name, JSON.stringify(value)]];
  if (style === 'deepObject' && (isJsonObject(value) || Array.isArray(value))) return deep(name, value);
  if (Array.isArray(value)) {
    if (explode) return value.map((one: JsonValue): Written => [name, plain(one)]);
    const separator = style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ',';
    return [[name, value.map((one: JsonValue) => plain(one)).join(separator)]];
  }
  if (!isJsonObject(value)) return [[name, plain(value)]];
  if (explode) return Object.entries(value).map(([of, one]): Written => [of, plain(one)]);
  return [
    [
      name,
      Object.entries(value)
        .map(([of, one]) => `${of},${plain(one)}`)
        .join(','),
    ],
  ];
}

/** `filter[name]=value`; OpenAPI says nothing of deeper levels, which most servers read so. */
function deep(name: string, value: JsonObject | readonly JsonValue[]): readonly Written[] {
  return Object.entries(value).flatMap(([of, one]: [string, JsonValue]) => {
    const key = `${name}[${of}]`;
    return isJsonObject(one) || Array.isArray(one)
      ? deep(key, one as JsonObject)
      : one === null
        ? []
        : [[key, plain(one)] as Written];
  });
}

function plain(value: JsonValue): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}

/** As in RFC 3986: also what encodeURIComponent leaves. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

function queryText(written: readonly Written[]): string {
  return written
    .map(([name, value]) => `${encoded(name).replaceAll('%5B', '[').replaceAll('%5D', ']')}=${encoded(value)}`)
    .join('&');
}

function cookieText([name, value]: Written): string {
  return `${encoded(name)}=${encoded(value)}`;
}

function headerValue({ name, style, explode }: HttpParameter, value: JsonValue): string {
  const text = style === 'json' ? JSON.stringify(value) : joined(value, explode, ',', (one) => one);
  // A line break would begin another header.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
    throw new ToolUserError(`The argument ${quote(name)} is sent as a header, which has no such characters.`);
  return text.trim();
}

function bodyFor(
  { encoding, contentType, files = [], styles = {} }: HttpBody,
  value: JsonValue | undefined,
): { readonly contentType: string; readonly body: string } | null {
  if (value === undefined) return null;
  switch (encoding) {
    case 'json':
      return { contentType, body: JSON.stringify(value) };
    case 'text':
      return { contentType: withCharset(contentType), body: plain(value) };
    case 'form':
      return { contentType, body: formText(value, styles) };
    case 'multipart':
      return multipart(value, files);
  }
}

function withCharset(type: string): string {
  return /;/.test(type) ? type : `${type}; charset=utf-8`;
}

/** Objects without a style are written as `name[member]`, which the servers of forms read. */
function formText(value: JsonValue, styles: NonNullable<HttpBody['styles']>): string {
  const fields = isJsonObject(value) ? Object.entries(value) : [];
  const written = fields.flatMap(([name, one]): readonly Written[] => {
    if (one === null) return [];
    const fallback = isJsonObject(one) ? 'deepObject' : 'form';
    return pairs(
      name,
      one,
      Object.hasOwn(styles, name)
        ? (styles[name] ?? { style: 'form', explode: true })
        : { style: fallback, explode: true },
    );
  });
  return new URLSearchParams(written.map(([name, one]): [string, string] => [name, one])).toString();
}

function multipart(
  value: JsonValue,
  files: readonly string[],
): { readonly contentType: string; readonly body: string } {
  const boundary = `sluice-${randomUUID()}`;
  const parts = Object.entries(isJsonObject(value) ? value : {}).flatMap(([name, one]) => {
    if (one === null) return [];
    const field = `content-disposition: form-data; name="${fieldName(name)}"`;
    if (files.includes(name))
      return [`${field}; filename="${fieldName(name)}"\r\ncontent-type: application/octet-stream\r\n\r\n${plain(one)}`];
    const isPlain = !isJsonObject(one) && !Array.isArray(one);
    const items = Array.isArray(one) && one.every((item: JsonValue) => !isJsonObject(item)) ? one : [one];
    return items.map((item: JsonValue) =>
      isPlain || items === one
        ? `${field}\r\n\r\n${plain(item)}`
        : `${field}\r\ncontent-type: application/json\r\n\r\n${plain(item)}`,
    );
  });
  const body = [...parts.map((part) => `--${boundary}\r\n${part}\r\n`), `--${boundary}--\r\n`].join('');
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function fieldName(name: string): string {
  return name.replace(/["\r\n]/g, (one) => encodeURIComponent(one));
}
