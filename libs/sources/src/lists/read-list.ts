import { isRawNumber, parseExactJson, partsOfPath, valuesAt } from '@sluice/core';
import type { JsonValue, ListLookup } from '@sluice/core';
import type { NetworkRequests } from '@sluice/isolation';

/** Values of a list, and characters of each. */
const mostValues = 100_000;
const longestValue = 1_000;

export interface ListRequests {
  readonly requests: Pick<NetworkRequests, 'send'>;
  /** A variable’s value, or what the file holds that `<variable>_FILE` names. */
  secret(variable: string): string | undefined;
}

/**
 * Reads the values of a list from this address, as texts. Throws an Error whose message is a clause for operators and
 * holds nothing of the key.
 */
export async function readList(
  address: string,
  { keyEnv, items, timeoutMs }: Omit<ListLookup, 'url'>,
  { requests, secret }: ListRequests,
): Promise<ReadonlySet<string>> {
  const key = keyEnv === null ? undefined : secret(keyEnv);
  if (keyEnv !== null && key === undefined) throw new Error(`neither ${keyEnv} nor ${keyEnv}_FILE is set`);
  if (!URL.canParse(address)) throw new Error('its url is no address');
  const bearer = key === undefined ? [] : [['authorization', `Bearer ${key}`] as const];
  const headers = [['accept', 'application/json'] as const, ...bearer];
  const request = { url: address, method: 'GET', redirect: 'error', body: null, headers } as const;
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await requests.send(request, [new URL(address).host], signal).catch((error: unknown) => {
    if (signal.aborted) throw new Error(`it did not answer within ${timeoutMs / 1_000} s`, { cause: error });
    throw error;
  });
  if (response.status !== 200) throw new Error(`it answered with ${response.status}`);
  return valuesIn(jsonOf(Buffer.from(response.body ?? '', 'base64').toString('utf8')), items);
}

function jsonOf(text: string): JsonValue {
  try {
    return parseExactJson(text);
  } catch (error) {
    throw new Error('its answer is no JSON', { cause: error });
  }
}

function valuesIn(answer: JsonValue, items: string): ReadonlySet<string> {
  const { values, isAstray } = valuesAt(answer, partsOfPath(items));
  if (isAstray) throw new Error(`its answer has other parts than ${items}`);
  if (values.length > mostValues) throw new Error(`it has ${values.length} values, and ${mostValues} are read at most`);
  const texts = values.map(textOf);
  const odd = texts.indexOf(null);
  if (odd !== -1)
    throw new Error(
      `its value ${odd + 1} is no text of at most ${longestValue} characters, and no number that can be compared`,
    );
  return new Set(texts as readonly string[]);
}

function textOf(value: JsonValue): string | null {
  if (typeof value === 'string') return value.length <= longestValue ? value : null;
  return (typeof value === 'number' && !isRawNumber(value)) || typeof value === 'boolean' ? String(value) : null;
}
