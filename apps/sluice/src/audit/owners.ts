import { isJsonObject, userOf } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { SessionEntry } from './session.js';

/** Whose a session is: a user’s of a tenant. */
interface Owner {
  readonly tenant: string;
  readonly user: string;
}

/** An entry, and whose it is; null where that is not known. */
interface OwnedEntry {
  readonly entry: SessionEntry;
  readonly owner: Owner | null;
}

/**
 * Whose each entry of a session is. Callers choose the ids of sessions and requests, so several users may have the
 * same ones. Most entries name their user; the others are found by what they are about.
 */
function ownedEntries(entries: readonly SessionEntry[]): readonly OwnedEntry[] {
  const naming = entries.flatMap((entry) => {
    const owner = ownerIn(entry.details);
    return owner === null ? [] : [{ entry, owner }];
  });
  const byPlace = new Map(naming.map(({ entry: { chain, source_offset: at }, owner }) => [`${chain}/${at}`, owner]));
  const byApproval = new Map(naming.map(({ entry, owner }) => [text(entry.details, 'approval_id'), owner]));
  const begun = naming.flatMap(({ entry, owner }) => {
    const question = beginningIn(entry);
    return question === undefined
      ? []
      : [{ id: entry.request_id, question, owner, isOwn: entry.kind !== 'tools_granted' }];
  });

  /** A request became the first turn with its question; of requests that are alike, each became another one. */
  const ofRequest = ({ request_id: id, details, chain }: SessionEntry): Owner | null => {
    const asked = details['question_hash'];
    const first = begun.find((one) => one.id === id && (one.question ?? asked) === asked);
    if (first === undefined) return null;
    // A call that came on the topic of all requests was passed on: the run began with the second record.
    const isPassedOn = first.isOwn && chain.startsWith(`${topics.requests}/`);
    if (!isPassedOn) begun.splice(begun.indexOf(first), 1);
    return first.owner;
  };
  const ofRun = (id: string, tenant: string): Owner | null => {
    const those = naming.filter(
      ({ entry, owner }) => entry.request_id === id && (tenant === '' || owner.tenant === tenant),
    );
    const [first] = those;
    return first !== undefined && those.every(({ owner }) => isSame(owner, first.owner)) ? first.owner : null;
  };

  return entries.map((entry): OwnedEntry => {
    const { kind, request_id: id, details } = entry;
    const owner = (): Owner | null => {
      switch (kind) {
        case 'request':
          return ofRequest(entry);
        case 'approval_decided':
        case 'approval_outcome':
          return byApproval.get(text(details, 'approval_id')) ?? null;
        case 'dead_letter':
          return byPlace.get(['topic', 'partition', 'offset'].map((name) => text(details, name)).join('/')) ?? null;
        case 'request_refused':
        case 'run_ended':
          // Without a tenant it is the end of a request whose sender is not known.
          return text(details, 'tenant') === '' ? null : ofRun(id, text(details, 'tenant'));
        default:
          return ofRun(id, '');
      }
    };
    return { entry, owner: ownerIn(details) ?? owner() };
  });
}

/**
 * The hash of the question that a run began with, where the entry says that it began: with its first Toolset, or with
 * the call that its request makes itself. Null where a former version did not write it.
 */
function beginningIn({ kind, details }: SessionEntry): JsonValue | undefined {
  if (kind === 'tools_granted') return details['iteration'] === 1 ? (details['question_hash'] ?? null) : undefined;
  const { decided = null } = details;
  return isJsonObject(decided) ? decided['question_hash'] : undefined;
}

/**
 * The entries of one owner’s session, and how many entries under its id have no known owner; these are shown where
 * the session has one owner alone. Throws a sentence where several are meant.
 */
export function entriesOfOne(
  entries: readonly SessionEntry[],
  session: string,
  { tenant, user }: { readonly tenant?: string; readonly user?: string },
): { readonly entries: readonly SessionEntry[]; readonly unknown: number } {
  const owned = ownedEntries(entries);
  const owners = ownersIn(owned);
  const isMeant = (owner: Owner): boolean =>
    (tenant ?? owner.tenant) === owner.tenant && [user ?? owner.user, `user:${user}`].includes(owner.user);
  const meant = owners.filter(isMeant);
  if (meant.length > 1) {
    const all = meant.map(ownerName).join(', ');
    throw new Error(`Several users have a session ${session}: ${all}. Name one with --tenant and --user.`);
  }
  if (owners.length < 2 && tenant === undefined && user === undefined) return { entries, unknown: 0 };
  const of = (one: Owner | undefined) => owned.filter(({ owner }) => one !== undefined && isSame(owner, one));
  const unknown = owned.filter(({ owner }) => owner === null).length;
  return { entries: of(meant[0]).map(({ entry }) => entry), unknown };
}

/** The owners that entries name, each once. */
function ownersIn(entries: readonly OwnedEntry[]): readonly Owner[] {
  const owners = entries.flatMap(({ owner }) => (owner === null ? [] : [owner]));
  return owners.filter((owner, index) => owners.findIndex((other) => isSame(owner, other)) === index);
}

function isSame(one: Owner | null, other: Owner): boolean {
  return one?.tenant === other.tenant && one.user === other.user;
}

function ownerName({ tenant, user }: Owner): string {
  return `${user} of ${tenant}`;
}

/** Whose an entry is by what it says itself; null where it does not say. */
export function ownerIn(details: JsonObject): Owner | null {
  const [actorId, tenant] = [text(details, 'actor'), text(details, 'tenant')];
  if (actorId === '' || tenant === '') return null;
  return { tenant, user: userOf({ actorId, subjectId: text(details, 'subject') || null }) };
}

function text(details: JsonObject, name: string): string {
  const found = details[name];
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
}
