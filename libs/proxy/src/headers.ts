import type { ProxyApi } from '@sluice/core';

/** Names and values in turns, as they stood. */
export type RawHeaders = readonly string[];

/** Those of one connection, which say nothing to the next. */
const hopByHop = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

/** Those by which a client says who it is. */
const credentials = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-amz-security-token']);

/** Sluice reads it and never forwards it. */
export const callerHeader = 'x-sluice-authorization';

interface HeaderChange {
  /** Headers that are left out, in lower case. */
  readonly without?: (name: string) => boolean;
  readonly added?: Readonly<Record<string, string>>;
}

/** Headers as they go to the other side: all in their order and spelling but those of the connection. */
export function forwarded(headers: RawHeaders, { without = () => false, added = {} }: HeaderChange = {}): string[] {
  const named = new Set(
    valuesOf(headers, 'connection').flatMap((value) => value.split(',').map((name) => name.trim().toLowerCase())),
  );
  const passed: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || named.has(lower) || lower === callerHeader || without(lower)) continue;
    passed.push(name, value);
  }
  for (const [name, value] of Object.entries(added)) passed.push(name, value);
  return passed;
}

export function valuesOf(headers: RawHeaders, wanted: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (headers[at]?.toLowerCase() === wanted) values.push(headers[at + 1] ?? '');
  return values;
}

export function isCredential(name: string): boolean {
  return credentials.has(name);
}

/** Sluice’s own key, as the API wants it. */
export function keyHeader(api: ProxyApi, key: string): Readonly<Record<string, string>> {
  switch (api) {
    case 'anthropic':
      return { 'x-api-key': key };
    case 'gemini':
      return { 'x-goog-api-key': key };
    case 'openai':
    case 'bedrock':
      return { authorization: `Bearer ${key}` };
  }
}

/** A target without the key that Gemini’s clients may put there. */
export function withoutKey(target: string): string {
  const [path = '', query] = target.split('?');
  if (query === undefined) return target;
  const kept = query.split('&').filter((pair) => !pair.startsWith('key='));
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}
