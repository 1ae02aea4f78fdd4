import { canonicalJson, isJsonObject } from '@sluice/core';
import type { Clock, Digest, Documents, JsonValue } from '@sluice/core';
import { inTime } from './in-time.js';

/** A tool that was left out, as its client wrote it. */
export interface DeferredTool {
  readonly name: string;
  /** The wire format in which it is written. */
  readonly wire: string;
  /** The bytes of its definition, as text. */
  readonly raw: string;
}

/** What discovery remembers of a conversation. */
interface DiscoverySession {
  /** In the order in which they came. */
  readonly deferred: readonly DeferredTool[];
  /** Names that searches found, each once, in the order of the finds. */
  readonly expanded: readonly string[];
}

/** What a request adds to its session. */
export interface SessionNote {
  /** The request’s list of tools: the same object where it is the same list, since it is stored once. */
  readonly tools?: readonly DeferredTool[];
  /** Places in the list of the tools that were not left out. */
  readonly shown?: readonly number[];
  /** Names that its searches found. */
  readonly expanded?: readonly string[];
}

/** A list of tools that a session names, and the places in it of those that were not left out. */
interface NamedList {
  readonly hash: string;
  readonly shown: readonly number[];
}

/** A session as it is stored. Lists are documents of their own, each once for a tenant. */
interface StoredSession {
  /** The one that was used last stands last. */
  readonly lists: readonly NamedList[];
  /** Tools that a former version stored in the session itself. */
  readonly own: readonly DeferredTool[];
  readonly expanded: readonly string[];
}

/** What is kept of a request’s list: all behind a place, where it is too long as a whole. */
interface KeptList {
  readonly hash: string;
  readonly from: number;
}

const emptySession: StoredSession = { lists: [], own: [], expanded: [] };

export interface SessionOwner {
  readonly tenantId: string;
  /** Who asks: `user:<id>`; without an identity, `key:<hash>` of the credential for the provider. */
  readonly userId: string;
}

/** A session lives so long from its last use on. */
export const sessionMs = 3_600_000;

/** UTF-8 bytes of the tools that a session holds, and names that it has found; the oldest go first. */
export const largestSession = 2_000_000;
export const mostExpanded = 500;
/** Lists that a session names. */
const mostLists = 16;

/**
 * A list lives so long after it was written; it is written again before a session that names it could outlive it.
 */
const listMs = 2 * sessionMs;
/** Lists of which this process remembers until when they are stored. */
const mostRemembered = 1_000;

/** By what a client’s conversation is known. */
interface Conversation {
  /** What was said first in it. */
  readonly said: JsonValue;
  /** The client’s own id of it; null where it sends none. */
  readonly id: string | null;
}

/**
 * The key of a conversation: whose it is, and the first 16 hexadecimal digits of SHA-256 over what was said first as
 * canonical JSON; behind them those of the client’s own id.
 */
export function sessionKey(owner: SessionOwner, { said, id }: Conversation, digest: Digest): string {
  const short = (text: string): string => digest(text).slice(0, 16);
  const conversation = `${short(canonicalJson(said))}${id === null ? '' : `-${short(id)}`}`;
  return `discovery/${encodeURIComponent(owner.tenantId)}/${encodeURIComponent(owner.userId)}/${conversation}`;
}

/**
 * A note that no one waits for waits so long for others, milliseconds: a write to the disk stops what else the
 * process does.
 */
const gatherMs = 50;
/** Sessions that are written together at most. */
const mostAtOnce = 16;

/** Writes that found another instance’s write are tried again so often. */
const attempts = 25;

/**
 * Sessions, shared by all instances: documents of the ledger’s database. A session that was not used for an hour is
 * gone, whether or not a sweep has passed. Rejects with the faults of the documents.
 */
export class DiscoverySessions {
  private waiting = new Map<string, readonly SessionNote[]>();
  private writing: Promise<void> | null = null;
  /** Until when lists are stored, by their keys. */
  private readonly storedUntil = new Map<string, number>();
  private readonly kept = new WeakMap<readonly DeferredTool[], KeptList>();

  constructor(
    private readonly documents: Documents,
    private readonly clock: Clock,
    private readonly digest: Digest,
  ) {}

  /** The names that searches found; none where there is no session. Reading alone does not prolong it. */
  async expanded(key: string): Promise<readonly string[]> {
    const { session } = await this.stored(key);
    const waiting = (this.waiting.get(key) ?? []).flatMap(({ expanded = [] }) => expanded);
    return together(session.expanded, waiting);
  }

  /** The whole session as it stands. `tools` is a list that is at hand, so that it need not be read. */
  async find(key: string, tools: readonly DeferredTool[] = []): Promise<DiscoverySession> {
    const waiting = this.waiting.get(key) ?? [];
    const session = this.withNotes((await this.stored(key)).session, waiting);
    const lists = [tools, ...waiting.map((note) => note.tools ?? [])];
    const atHand = new Map(lists.map((list) => [this.keptOf(list).hash, list.slice(this.keptOf(list).from)]));
    const found: (readonly DeferredTool[])[] = [];
    let bytes = 0;
    // The oldest go first, so those that are too many are not read.
    for (const { hash, shown } of session.lists.toReversed()) {
      if (bytes > largestSession) break;
      const list = atHand.get(hash) ?? listOf((await this.documents.find(listKey(key, hash)))?.text ?? '');
      const without = new Set(shown);
      const left = list.filter((_, at) => !without.has(at));
      found.unshift(left);
      bytes += left.reduce((sum, tool) => sum + bytesOf(tool), 0);
    }
    return { deferred: bounded([session.own, ...found].flat()), expanded: session.expanded };
  }

  /**
   * As note, together with others that come soon. This process finds it at once. Rejects where any of them could not
   * be written.
   */
  async noteSoon(key: string, added: SessionNote): Promise<void> {
    this.waiting.set(key, [...(this.waiting.get(key) ?? []), added]);
    this.writing ??= this.write();
    await this.writing;
  }

  private async write(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    this.writing = null;
    const keys = [...this.waiting.keys()];
    let failed: PromiseRejectedResult | undefined;
    for (let at = 0; at < keys.length; at += mostAtOnce) {
      const notes = keys.slice(at, at + mostAtOnce).map((key) => inTime(this.note(key, {})));
      failed ??= (await Promise.allSettled(notes)).find((note) => note.status === 'rejected');
    }
    if (failed !== undefined) throw failed.reason;
  }

  /**
   * Adds what a request left out and what its searches found, and prolongs the session. Of two definitions of a name
   * in one wire format the newer one stays.
   */
  async note(key: string, latest: SessionNote): Promise<void> {
    const added = [...(this.waiting.get(key) ?? []), latest];
    this.waiting.delete(key);
    for (const { tools = [] } of added) if (tools.length > 0) await this.store(key, tools);
    // Another instance may be faster each time: what it wrote is a session of the same conversation.
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const { version, session } = await this.stored(key);
      const next = this.withNotes(session, added);
      if (await this.documents.put(key, version + 1, textOf(next), this.clock.now() + sessionMs)) return;
    }
  }

  /** Writes a list, unless it is stored for as long as the session will be. */
  private async store(session: string, tools: readonly DeferredTool[]): Promise<void> {
    const { hash, from } = this.keptOf(tools);
    const key = listKey(session, hash);
    const now = this.clock.now();
    if ((this.storedUntil.get(key) ?? 0) >= now + sessionMs) return;
    await this.documents.put(key, 1, listText(tools.slice(from)), now + listMs);
    if (this.storedUntil.size >= mostRemembered) this.storedUntil.clear();
    this.storedUntil.set(key, now + listMs);
  }

  private withNotes(session: StoredSession, notes: readonly SessionNote[]): StoredSession {
    let { lists } = session;
    for (const { tools = [], shown = [] } of notes) {
      if (tools.length === 0) continue;
      const { hash, from } = this.keptOf(tools);
      const places = shown.flatMap((at) => (at < from ? [] : [at - from]));
      const before = lists.find((list) => list.hash === hash);
      // What was left out once stays so.
      const once = new Set(before?.shown);
      const always = before === undefined ? places : places.filter((at) => once.has(at));
      lists = [...lists.filter((list) => list !== before), { hash, shown: always }];
    }
    const expanded = notes.flatMap((note) => note.expanded ?? []);
    return { ...session, lists: lists.slice(-mostLists), expanded: together(session.expanded, expanded) };
  }

  private keptOf(tools: readonly DeferredTool[]): KeptList {
    let kept = this.kept.get(tools);
    if (kept === undefined) {
      let bytes = 0;
      const from = tools.findLastIndex((tool) => (bytes += bytesOf(tool)) > largestSession) + 1;
      kept = { hash: this.digest(listText(tools.slice(from))), from };
      this.kept.set(tools, kept);
    }
    return kept;
  }

  private async stored(key: string): Promise<{ readonly version: number; readonly session: StoredSession }> {
    const stored = await this.documents.find(key);
    if (stored === undefined) return { version: 0, session: emptySession };
    const gone = stored.expiresAt !== null && stored.expiresAt <= this.clock.now();
    return { version: stored.version, session: gone ? emptySession : sessionOf(stored.text) };
  }
}

/** A list is stored beside the sessions of its tenant. */
function listKey(session: string, hash: string): string {
  const [prefix = '', tenant = ''] = session.split('/');
  return `${prefix}/${tenant}/lists/${hash}`;
}

function together(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...one, ...other])].slice(-mostExpanded);
}

/** Each name of a wire format once, as its newest definition says, and so many bytes: the oldest go first. */
function bounded(tools: readonly DeferredTool[]): readonly DeferredTool[] {
  const byName = new Map<string, DeferredTool>();
  for (const tool of tools) byName.set(`${tool.wire} ${tool.name}`, tool);
  let bytes = 0;
  const kept = [...byName.values()];
  return kept.slice(kept.findLastIndex((tool) => (bytes += bytesOf(tool)) > largestSession) + 1);
}

function bytesOf({ name, raw }: DeferredTool): number {
  return Buffer.byteLength(raw) + name.length;
}

/** JSON escapes what a database does not keep: NUL, and half a character. */
function listText(tools: readonly DeferredTool[]): string {
  return JSON.stringify(tools.map(({ name, wire, raw }) => [name, wire, raw]));
}

function listOf(text: string): readonly DeferredTool[] {
  return toolsIn(parsed(text));
}

function textOf({ lists, own, expanded }: StoredSession): string {
  return JSON.stringify({
    lists: lists.map(({ hash, shown }) => [hash, shown]),
    deferred: own.map(({ name, wire, raw }) => [name, wire, raw]),
    expanded,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toolsIn(value: unknown): readonly DeferredTool[] {
  return (Array.isArray(value) ? value : []).flatMap((item: unknown): readonly DeferredTool[] => {
    const [name, wire, raw] = Array.isArray(item) ? (item as unknown[]) : [];
    return typeof name === 'string' && typeof wire === 'string' && typeof raw === 'string' ? [{ name, wire, raw }] : [];
  });
}

/** A text that is no session, as of a later version, counts as an empty one. */
function sessionOf(text: string): StoredSession {
  const value = parsed(text);
  if (!isJsonObject(value)) return emptySession;
  const { lists, deferred, expanded } = value;
  const named = (Array.isArray(lists) ? lists : []).flatMap((item: unknown): readonly NamedList[] => {
    const [hash, shown] = Array.isArray(item) ? (item as unknown[]) : [];
    if (typeof hash !== 'string' || !Array.isArray(shown)) return [];
    return [{ hash, shown: shown.filter((at): at is number => typeof at === 'number') }];
  });
  const names = Array.isArray(expanded) ? expanded.filter((name): name is string => typeof name === 'string') : [];
  return { lists: named, own: toolsIn(deferred), expanded: names };
}
