import { canonicalJson, isJsonObject } from '@sluice/core';
import type { Clock, Digest, Documents, JsonValue } from '@sluice/core';

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
  /** Who asks: `user:<id>`. */
  readonly userId: string;
}

/** A session lives so long from its last use on. */
export const sessionMs = 3_600_000;

/** UTF-8 bytes of the tools that a session holds, and names that it has found; the oldest go first. */
export const largestSession = 2_000_000;
export const mostExpanded = 500;

/** The key of a conversation: whose it is, and the first 16 hexadecimal digits of SHA-256 over its first user message as canonical JSON. */
export function sessionKey(owner: SessionOwner, firstUserMessage: JsonValue, digest: Digest): string {
  const message = digest(canonicalJson(firstUserMessage)).slice(0, 16);
  return `discovery/${encodeURIComponent(owner.tenantId)}/${encodeURIComponent(owner.userId)}/${message}`;
}

/** Writes that found another instance’s write are tried again so often. */
const attempts = 25;

/**
 * Sessions, shared by all instances: documents of the ledger’s database. A session that was not used for an hour is gone, whether or not a
 * sweep has passed. Rejects with the faults of the documents.
 */
export class DiscoverySessions {
  constructor(
    private readonly documents: Documents,
    private readonly clock: Clock,
  ) {}

  /** The session as it stands; an empty one where there is none. Reading alone does not prolong it. */
  async find(key: string): Promise<DiscoverySession> {
    return (await this.stored(key)).session;
  }

  /**
   * Adds what a request left out and what its searches found, and prolongs the session. Of two definitions of a name in one wire format
   * the newer one stays. Returns the session as it is now.
   */
  async note(key: string, added: Partial<DiscoverySession>): Promise<DiscoverySession> {
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
  const tools = new Map(session.deferred.map((tool) => [`${tool.wire} ${tool.name}`, tool]));
  for (const tool of deferred) tools.set(`${tool.wire} ${tool.name}`, tool);
  return { deferred: [...tools.values()], expanded: [...new Set([...session.expanded, ...expanded])] };
}

function bounded({ deferred, expanded }: DiscoverySession): DiscoverySession {
  let bytes = 0;
  const kept = deferred.findLastIndex(
    ({ name, raw }) => (bytes += Buffer.byteLength(raw) + name.length) > largestSession,
  );
  return { deferred: deferred.slice(kept + 1), expanded: expanded.slice(-mostExpanded) };
}

/** JSON escapes what a database does not keep: NUL, and half a character. */
function textOf({ deferred, expanded }: DiscoverySession): string {
  return `{"deferred":[${deferred.map(itemOf).join(',')}],"expanded":${JSON.stringify(expanded)}}`;
}

/** Texts of tools that are the same objects as before; they go with their tools. */
const items = new WeakMap<DeferredTool, string>();

function itemOf(tool: DeferredTool): string {
  const before = items.get(tool);
  if (before !== undefined) return before;
  const { name, wire, raw } = tool;
  const item = JSON.stringify([name, wire, raw]);
  items.set(tool, item);
  return item;
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
