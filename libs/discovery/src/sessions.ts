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
export interface DiscoverySession {
  /** In the order in which they came. */
  readonly deferred: readonly DeferredTool[];
  /** Names that searches found, each once, in the order of the finds. */
  readonly expanded: readonly string[];
}

export const emptySession: DiscoverySession = { deferred: [], expanded: [] };

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
/** Sessions that are written together at most: a session may have 2 MB. */
const mostAtOnce = 16;

/** Writes that found another instance’s write are tried again so often. */
const attempts = 25;

/**
 * Sessions, shared by all instances: documents of the ledger’s database. A session that was not used for an hour is
 * gone, whether or not a sweep has passed. Rejects with the faults of the documents.
 */
export class DiscoverySessions {
  private waiting = new Map<string, Partial<DiscoverySession>>();
  private writing: Promise<void> | null = null;

  constructor(
    private readonly documents: Documents,
    private readonly clock: Clock,
  ) {}

  /** The session as it stands; an empty one where there is none. Reading alone does not prolong it. */
  async find(key: string): Promise<DiscoverySession> {
    const { session } = await this.stored(key);
    const waiting = this.waiting.get(key);
    return waiting === undefined ? session : bounded(merged(session, waiting));
  }

  /**
   * As note, together with others that come soon. This process finds it at once. Rejects where any of them could not
   * be written.
   */
  async noteSoon(key: string, added: Partial<DiscoverySession>): Promise<void> {
    this.waiting.set(key, together(this.waiting.get(key), added));
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
   * in one wire format the newer one stays. Returns the session as it is now.
   */
  async note(key: string, latest: Partial<DiscoverySession>): Promise<DiscoverySession> {
    const added = together(this.waiting.get(key), latest);
    this.waiting.delete(key);
    for (let attempt = 1; ; attempt++) {
      const { version, session } = await this.stored(key);
      const next = bounded(merged(session, added));
      if (await this.documents.put(key, version + 1, textOf(next), this.clock.now() + sessionMs)) return next;
      // Another instance was faster each time: what it wrote is a session of the same conversation.
      if (attempt === attempts) return next;
    }
  }

  private async stored(key: string): Promise<{ readonly version: number; readonly session: DiscoverySession }> {
    const stored = await this.documents.find(key);
    if (stored === undefined) return { version: 0, session: emptySession };
    const gone = stored.expiresAt !== null && stored.expiresAt <= this.clock.now();
    return { version: stored.version, session: gone ? emptySession : sessionOf(stored.text) };
  }
}

function merged(
  session: DiscoverySession,
  { deferred = [], expanded = [] }: Partial<DiscoverySession>,
): DiscoverySession {
  const found = { expanded: [...new Set([...session.expanded, ...expanded])] };
  if (deferred.length === 0) return { deferred: session.deferred, ...found };
  const tools = new Map(session.deferred.map((tool) => [`${tool.wire} ${tool.name}`, tool]));
  for (const tool of deferred) tools.set(`${tool.wire} ${tool.name}`, tool);
  return { deferred: [...tools.values()], ...found };
}

function together(
  one: Partial<DiscoverySession> | undefined,
  other: Partial<DiscoverySession>,
): Partial<DiscoverySession> {
  return one === undefined ? other : merged({ ...emptySession, ...one }, other);
}

function bounded({ deferred, expanded }: DiscoverySession): DiscoverySession {
  let bytes = 0;
  const kept = deferred.findLastIndex((tool) => (bytes += storedOf(tool).bytes) > largestSession);
  return { deferred: deferred.slice(kept + 1), expanded: expanded.slice(-mostExpanded) };
}

/** JSON escapes what a database does not keep: NUL, and half a character. */
function textOf({ deferred, expanded }: DiscoverySession): string {
  return `{"deferred":[${deferred.map((tool) => storedOf(tool).item).join(',')}],"expanded":${JSON.stringify(expanded)}}`;
}

/**
 * A tool as it is stored, and what it counts. Of tools that are the same objects as before it is known; it goes with
 * them.
 */
const stored = new WeakMap<DeferredTool, { readonly item: string; readonly bytes: number }>();

function storedOf(tool: DeferredTool): { readonly item: string; readonly bytes: number } {
  const before = stored.get(tool);
  if (before !== undefined) return before;
  const { name, wire, raw } = tool;
  const made = { item: JSON.stringify([name, wire, raw]), bytes: Buffer.byteLength(raw) + name.length };
  stored.set(tool, made);
  return made;
}

/** A text that is no session, as of a later version, counts as an empty one. */
function sessionOf(text: string): DiscoverySession {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // As below.
  }
  if (!isJsonObject(value)) return emptySession;
  const { deferred, expanded } = value;
  const tools = (Array.isArray(deferred) ? deferred : []).flatMap((item: unknown): readonly DeferredTool[] => {
    const [name, wire, raw] = Array.isArray(item) ? (item as unknown[]) : [];
    return typeof name === 'string' && typeof wire === 'string' && typeof raw === 'string' ? [{ name, wire, raw }] : [];
  });
  const names = Array.isArray(expanded) ? expanded.filter((name): name is string => typeof name === 'string') : [];
  return { deferred: tools, expanded: names };
}
