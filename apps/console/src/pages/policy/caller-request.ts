import type { ExplainRequest } from '@sluice/client';
import type { PolicySearch } from './search.js';

export const channels = ['http', 'mcp', 'proxy', 'kafka', 'schedule', 'hook'] as const;

/** Names with commas between, each once. */
export function namesOf(text: string | undefined): readonly string[] {
  const names = (text ?? '').split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

/** Claims as `department=sales, support; level=2`: for each name its values. */
export function claimsOf(text: string | undefined): Readonly<Record<string, readonly string[]>> | null {
  const claims = (text ?? '').split(';').flatMap((part): readonly (readonly [string, readonly string[]])[] => {
    const at = part.indexOf('=');
    const name = at < 0 ? '' : part.slice(0, at).trim();
    return name === '' ? [] : [[name, namesOf(part.slice(at + 1))]];
  });
  return claims.length === 0 ? null : Object.fromEntries(claims);
}

/** What is asked of the gateway about the caller that the address describes: what it leaves out is not known. */
export function requestOf(search: PolicySearch): ExplainRequest {
  const { group, state, roles, user, tenant, channel, at, claims, question } = search;
  const time = at === undefined ? NaN : new Date(at).getTime();
  const known = claimsOf(claims);
  return {
    group: group === undefined ? ['*'] : namesOf(group),
    ...(state === undefined ? {} : { state }),
    ...(roles === undefined ? {} : { roles: namesOf(roles) }),
    ...(user === undefined ? {} : { user }),
    ...(tenant === undefined ? {} : { tenant }),
    ...channelOf(channel),
    ...(Number.isNaN(time) ? {} : { at: time }),
    ...(known === null ? {} : { claims: known }),
    ...(question === undefined ? {} : { question }),
    connections: ['*'],
  };
}

function channelOf(name: string | undefined): Pick<ExplainRequest, 'channel'> {
  const channel = channels.find((each) => each === name);
  return channel === undefined ? {} : { channel };
}
