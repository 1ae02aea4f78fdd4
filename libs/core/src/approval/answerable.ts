import type { IdentitySettings } from '../settings/identity-types.js';
import { wildcard } from '../rules/defaults.js';
import { approverKinds } from './decision.js';

/** What says who a caller is. */
type Provider = IdentitySettings['provider'];

/**
 * Whether anyone can be who the entry of an approvers’ list names: without an identity there is no credential that has
 * groups, roles or claims, and API keys have groups alone.
 */
export function isAnswerable(entry: string, provider: Provider): boolean {
  const kind = approverKinds.find((one) => entry.startsWith(one));
  if (kind === undefined || provider === 'jwt') return true;
  return provider === 'api-keys' && kind === 'group:';
}

/** Whether so many persons can be who the entries name. An entry that is no name may be any number of them. */
export function canReach(quorum: number, entries: readonly string[], provider: Provider): boolean {
  const all = new Set(entries.filter((entry) => isAnswerable(entry, provider)));
  const isOpen = [...all].some((entry) => entry === wildcard || approverKinds.some((kind) => entry.startsWith(kind)));
  return all.size > 0 && (isOpen || all.size >= quorum);
}
