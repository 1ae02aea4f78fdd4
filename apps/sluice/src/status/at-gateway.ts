import { isoOrNull, midnight } from './status.js';
import type { InstallationStatus } from './status.js';

const answerMs = 5_000;

/** No gateway answers there. */
export class NoGateway extends Error {
  override readonly name = 'NoGateway';
}

interface SystemStatus {
  readonly version: string;
  readonly config_version: string | null;
  readonly roles: readonly Omit<InstallationStatus['roles'][number], 'ready'>[];
  readonly checks: InstallationStatus['checks'];
  readonly runs: { readonly running: number; readonly oldest_at: number | null; readonly overdue: number };
  readonly approvals: { readonly waiting: number; readonly oldest_at: number | null };
  readonly dead_letters: { readonly last_day: number; readonly latest_at: number | null };
}

interface Usage {
  readonly runs: number;
  readonly failures: number;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly usd: number | null;
}

/** As an operator sees it. Rejects with NoGateway where none answers, else with the gateway’s own sentence. */
export async function statusAtGateway(
  url: string,
  token: string | undefined,
  now: number,
): Promise<InstallationStatus> {
  const get = <T>(path: string): Promise<T> => ask<T>(`${url}${path}`, token);
  const since = new Date(midnight(now)).toISOString();
  // First alone: it says whether there is a gateway, and whether the caller may ask.
  const status = await get<SystemStatus>('/v1/status');
  const [{ servers }, { rows }, { configurations }] = await Promise.all([
    get<{ servers: { name: string; state: string; held_back: unknown[] }[] }>('/v1/servers'),
    get<{ rows: Usage[] }>(`/v1/usage?by=tenant&since=${since}`),
    get<{ configurations: { config_version: string; in_force: boolean; refused: string | null }[] }>(
      '/v1/configurations?limit=20',
    ),
  ]);
  const newest = configurations.findIndex((one) => one.in_force);
  const sum = (of: (row: Usage) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const saidOf = new Map(status.checks.map(({ name, ok }) => [name, ok]));
  return {
    at: new Date(now).toISOString(),
    ...{ from: 'gateway', version: status.version, config_version: status.config_version },
    roles: status.roles.map((one) => ({ ...one, ready: saidOf.get(one.role) ?? null })),
    checks: status.checks.filter(({ name }) => !status.roles.some(({ role }) => role === name)),
    runs: { ...status.runs, oldest_at: isoOrNull(status.runs.oldest_at) },
    approvals: { ...status.approvals, oldest_at: isoOrNull(status.approvals.oldest_at) },
    dead_letters: { ...status.dead_letters, latest_at: isoOrNull(status.dead_letters.latest_at) },
    servers: servers.map(({ name, state, held_back: held }) => ({ name, state, held_back: held.length })),
    refused: configurations
      .slice(0, newest === -1 ? undefined : newest)
      .flatMap(({ config_version: version, refused }) => (refused === null ? [] : [{ version, why: refused }])),
    today: {
      ...{ runs: sum(({ runs }) => runs), failures: sum(({ failures }) => failures) },
      tokens: { input: sum(({ tokens }) => tokens.input), output: sum(({ tokens }) => tokens.output) },
      usd: rows.some(({ usd }) => usd !== null) ? sum(({ usd }) => usd ?? 0) : null,
    },
  };
}

async function ask<T>(url: string, token: string | undefined): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answerMs),
    });
  } catch (error) {
    const { message } = (error as { cause?: Error }).cause ?? (error as Error);
    throw new NoGateway(`No gateway answers at ${new URL(url).origin} (${message}).`, { cause: error });
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.status === 200) return body as T;
  const { detail } = Object(body) as { readonly detail?: unknown };
  const why = typeof detail === 'string' ? detail : `it answered ${response.status}`;
  throw new Error(`The gateway at ${new URL(url).origin} does not say: ${why}`);
}
