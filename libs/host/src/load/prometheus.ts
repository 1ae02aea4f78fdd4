/** How long an answer may take. */
const waitMs = 2_000;

interface QueryAnswer {
  readonly status?: string;
  readonly data?: { readonly resultType?: string; readonly result?: unknown };
}

/** The one number that a query gives. Throws an Error that says why there is none. */
export async function askPrometheus(address: string, query: string): Promise<number> {
  const url = `${address.replace(/\/+$/, '')}/api/v1/query?query=${encodeURIComponent(query)}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(waitMs), redirect: 'error' });
  if (!response.ok) throw new Error(`it answers ${String(response.status)}`);
  const { status, data } = (await response.json()) as QueryAnswer;
  if (status !== 'success') throw new Error('it does not succeed');
  const value = valueOf(data?.resultType, data?.result);
  if (value === null) throw new Error('it gives no number, or several: let it give one, as `sum(…)` does');
  return value;
}

/** A sample is `[time, "value"]`; a vector has one a series. */
function valueOf(type: string | undefined, result: unknown): number | null {
  if (!Array.isArray(result)) return null;
  const items = result as readonly unknown[];
  if (type === 'scalar') return numberOf(items[1]);
  const [series, ...others] = items as readonly { readonly value?: readonly unknown[] }[];
  return type === 'vector' && others.length === 0 ? numberOf(series?.value?.[1]) : null;
}

function numberOf(text: unknown): number | null {
  const value = typeof text === 'string' && text !== '' ? Number(text) : NaN;
  return Number.isNaN(value) ? null : value;
}
