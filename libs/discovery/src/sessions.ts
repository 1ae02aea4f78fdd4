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

interface ReadSession {
  readonly version: number;
  readonly session: StoredSession;
}

/** What is kept of a request’s list: all behind a place, where it is too long as a whole. */
interface KeptList {
  readonly hash: string;
  readonly from: number;
  /** As it is stored; null once it was. */
  text: string | null;
}

/** Why notes could not be written, by the keys of their sessions. */
type Failures = ReadonlyMap<string, Error>;

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
  private writing: Promise<Failures> | null = null;
  /** Until when lists are stored, by their keys. */
  private readonly storedUntil = new Map<string, number>();
  /** Sessions as requests under way have read them. */
  private readonly lastRead = new Map<string, ReadSession>();
  private readonly kept = new WeakMap<readonly DeferredTool[], KeptList>();

  constructor(
    private readonly documents: Documents,
    private readonly clock: Clock,
    private readonly digest: Digest,
  ) {}

  /** The names that searches found; none where there is no session. Reading alone does not prolong it. */
  async expanded(key: string): Promise<readonly string[]> {
    const stored = await this.stored(key);
    if (this.lastRead.size >= mostRemembered) this.lastRead.clear();
    this.lastRead.set(key, stored);
    const { session } = stored;
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

  /** As note, together with others that come soon. This process finds it at once. */
  async noteSoon(key: string, added: SessionNote): Promise<void> {
    this.waiting.set(key, [...(this.waiting.get(key) ?? []), added]);
    this.writing ??= this.write();
    const failure = (await this.writing).get(key);
    if (failure !== undefined) throw failure;
  }

  private async write(): Promise<Failures> {
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    this.writing = null;
    const keys = [...this.waiting.keys()];
    const failures = new Map<string, Error>();
    for (let at = 0; at < keys.length; at += mostAtOnce)
      await Promise.all(
        keys.slice(at, at + mostAtOnce).map(async (key) => {
          try {
            await inTime(this.note(key, {}));
          } catch (error) {
            failures.set(key, error as Error);
          }
        }),
      );
    return failures;
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
    // What the request began with is the newest, unless another instance has written since.
    let before = this.lastRead.get(key);
    this.lastRead.delete(key);
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const { version, session } = before ?? (await this.stored(key));
      before = undefined;
      const next = this.withNotes(session, added);
      if (await this.documents.put(key, version + 1, textOf(next), this.clock.now() + sessionMs)) return;
    }
  }

  /** Writes a list, unless it is stored for as long as the session will be. */
  private async store(session: string, tools: readonly DeferredTool[]): Promise<void> {
    const kept = this.keptOf(tools);
    const key = listKey(session, kept.hash);
    const now = this.clock.now();
    if ((this.storedUntil.get(key) ?? 0) < now + sessionMs) {
      await this.documents.put(key, 1, kept.text ?? listText(tools.slice(kept.from)), now + listMs);
      if (this.storedUntil.size >= mostRemembered) this.storedUntil.clear();
      this.storedUntil.set(key, now + listMs);
    }
    kept.text = null;
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
      const text = definitions(tools);
      const names = tools.reduce((sum, { name }) => sum + name.length, 0);
      const from = Buffer.byteLength(text) + names <= largestSession ? 0 : firstOfNewest(tools);
      const list = tools.slice(from);
      const stored = listText(list, from === 0 ? text : definitions(list));
      kept = { hash: this.digest(stored), from, text: stored };
      this.kept.set(tools, kept);
    }
    return kept;
  }

  private async stored(key: string): Promise<ReadSession> {
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
  const kept = [...byName.values()];
  return kept.slice(firstOfNewest(kept));
}

/** Where those begin that are not too many bytes, from the last one on. */
function firstOfNewest(tools: readonly DeferredTool[]): number {
  let bytes = 0;
  return tools.findLastIndex((tool) => (bytes += bytesOf(tool)) > largestSession) + 1;
}

function bytesOf({ name, raw }: DeferredTool): number {
  return Buffer.byteLength(raw) + name.length;
}

/**
 * In a line of JSON the name, the wire and the characters of each definition, and behind it the definitions: as they
 * are, since they are JSON already and to escape them takes time. Where they hold what a database does not keep, NUL
 * or half a character, they stand in that line, escaped.
 */
function listText(tools: readonly DeferredTool[], text = definitions(tools)): string {
  const isKept = text.isWellFormed() && !text.includes('\0');
  const head = {
    names: tools.map(({ name }) => name),
    wires: tools.map(({ wire }) => wire),
    lengths: tools.map(({ raw }) => raw.length),
  };
  return isKept ? `${JSON.stringify(head)}\n${text}` : JSON.stringify({ ...head, text });
}

function definitions(tools: readonly DeferredTool[]): string {
  return tools.map(({ raw }) => raw).join('');
}

/** A former version stored the tools one by one. */
function listOf(stored: string): readonly DeferredTool[] {
  const head = stored.startsWith('{') ? stored.indexOf('\n') : -1;
  const value = parsed(head === -1 ? stored : stored.slice(0, head));
  if (!isJsonObject(value)) return toolsIn(value);
  const { names, wires, lengths } = value;
  const text = head === -1 ? value['text'] : stored.slice(head + 1);
  if (!Array.isArray(names) || !Array.isArray(wires) || !Array.isArray(lengths) || typeof text !== 'string') return [];
  let at = 0;
  return toolsIn(
    names.map((name, place): unknown => {
      const length: unknown = lengths[place];
      return typeof length === 'number' ? [name, wires[place], text.slice(at, (at += length))] : null;
    }),
  );
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
