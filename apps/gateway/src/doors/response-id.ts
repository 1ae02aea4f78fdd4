import type { RunLocation } from '../run-location.js';

/** A run as an id of Responses names it, with the token that its link needs without an identity. */
export interface NamedResponse extends RunLocation {
  readonly token: string | null;
  /** As its request named it. */
  readonly model: string;
  /** The question of the run behind whose answer the response begins; null where it begins with the run. */
  readonly after: string | null;
}

const prefix = 'resp_';

/** The id of the response that a run gives: to a client it says nothing, here it is the run’s link. */
export function responseId(requestId: string, address: string, model: string, after: string | null): string {
  const link = new URL(address, 'http://localhost').searchParams;
  const session = link.get('session_id');
  const named = [
    requestId,
    session === requestId ? null : session,
    Number(link.get('since')),
    link.get('token'),
    model,
    ...(after === null ? [] : [after]),
  ];
  return `${prefix}${Buffer.from(JSON.stringify(named)).toString('base64url')}`;
}

/** The run that an id names; null for what is no id of here. */
export function runOfResponse(id: string): NamedResponse | null {
  if (!id.startsWith(prefix)) return null;
  try {
    const link: unknown = JSON.parse(Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8'));
    if (!Array.isArray(link) || link.length < 5 || link.length > 6) return null;
    const [requestId, session, since, token, model, after = null] = link as readonly unknown[];
    if (after !== null && typeof after !== 'string') return null;
    if (typeof requestId !== 'string' || requestId === '' || typeof model !== 'string') return null;
    if (!Number.isSafeInteger(since) || Number(since) < 0) return null;
    const sessionId = typeof session === 'string' && session !== '' ? session : requestId;
    const named = { requestId, sessionId, since: Number(since), model, after };
    return { ...named, token: typeof token === 'string' ? token : null };
  } catch {
    return null;
  }
}
