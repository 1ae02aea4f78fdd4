import type { Clock, Digest, Documents } from '@sluice/core';
import { inTime } from './in-time.js';
import type { SessionOwner } from './sessions.js';

const dayMs = 24 * 3_600_000;
/** Rounds live so long; one that is used in the second half of its time gets all of it again. */
export const roundsMs = 30 * dayMs;
/** Marks outlive them: without the rounds they say what must not go on. */
export const marksMs = 180 * dayMs;
/** UTF-8 bytes of the rounds of one answer; longer ones are not kept, only their mark is. */
export const largestRounds = 1_000_000;

/** Marks and misses that a process remembers: a conversation repeats its answers in each request. */
const mostRemembered = 10_000;
/** A miss is believed so long: another instance may have been slow to write. */
const missMs = 600_000;

/** Seals what is kept, so that the database alone does not tell it. */
export interface Seal {
  seal(text: string, about: string): Promise<string>;
  /** Null where it was not sealed with a key that is known. */
  open(sealed: string, about: string): Promise<string | null>;
}

/** What an answer is found by; a key that others may have as well counts for its owner alone. */
interface RoundsKey {
  readonly text: string;
  readonly isUnique: boolean;
}

interface RoundsParts {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly seal: Seal | null;
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
}

/**
 * Rounds that clients see as one answer, in the ledger’s database, for all instances: the rounds for their owner, and
 * under each key a mark without a word of them. What cannot be read or written is as if it were not there.
 */
export class HiddenRounds {
  private readonly remembered = new Map<string, Remembered | { readonly missedAt: number }>();

  constructor(private readonly parts: RoundsParts) {}

  /** Before the client has the end of its answer: its next request needs them. Never rejects. */
  async note(
    owner: SessionOwner,
    { keys, text, mark }: { readonly keys: readonly RoundsKey[]; readonly text: string; readonly mark: string },
  ): Promise<void> {
    const { clock, digest, warn } = this.parts;
    const id = digest(JSON.stringify(keys)).slice(0, 32);
    const now = clock.now();
    const isKept = Buffer.byteLength(text) <= largestRounds;
    if (!isKept) warn({ bytes: Buffer.byteLength(text) }, 'the rounds of an answer are too long to be kept');
    const name = roundsName(owner, id);
    try {
      // Before any write begins: a write that failed while this waits would be an unhandled rejection.
      const stored = isKept ? await this.sealed(text, name) : null;
      const noted = JSON.stringify({ id, mark });
      const marks = keys.map((key) => this.put(this.markName(owner, key), noted, now + marksMs));
      const rounds = stored === null ? [] : [this.put(name, stored, now + roundsMs)];
      await inTime(Promise.all([...rounds, ...marks]));
    } catch (error) {
      warn({ error: (error as Error).message }, 'the rounds of an answer could not be written');
    }
    // This process knows of them in any case.
    for (const key of keys) this.remember(this.markName(owner, key), { id, mark });
  }

  async find(
    owner: SessionOwner,
    key: RoundsKey,
  ): Promise<{ readonly mark: string; readonly text: string | null } | null> {
    const name = this.markName(owner, key);
    try {
      const marked = await this.marked(name, key);
      if (marked === null) return null;
      return { mark: marked.mark, text: await this.rounds(owner, marked.id) };
    } catch (error) {
      this.parts.warn({ error: (error as Error).message }, 'the rounds of an answer could not be looked up');
      return null;
    }
  }

  private async marked(name: string, { isUnique }: RoundsKey): Promise<Remembered | null> {
    const known = this.remembered.get(name);
    if (known !== undefined && 'id' in known) return known;
    if (known !== undefined && this.parts.clock.now() - known.missedAt < missMs) return null;
    const text = await this.read(name);
    const marked = text === null ? null : rememberedIn(text.text);
    // An id that another answer may get is asked for again.
    if (marked !== null || isUnique) this.remember(name, marked);
    return marked;
  }

  /**
   * The rounds, kept for longer once half of their time has passed: sealed again, since the key that sealed them may
   * be on its way out.
   */
  private async rounds(owner: SessionOwner, id: string): Promise<string | null> {
    const { clock, documents, seal, warn } = this.parts;
    const name = roundsName(owner, id);
    const stored = await this.read(name).catch((error: unknown) => {
      warn({ error: (error as Error).message }, 'the rounds of an answer could not be read');
      return null;
    });
    if (stored === null) return null;
    // What was kept before there was a key is in the clear.
    const isPlain = stored.text.startsWith('{');
    const text = isPlain ? stored.text : seal === null ? null : await seal.open(stored.text, name);
    const now = clock.now();
    if (text !== null && stored.expiresAt !== null && stored.expiresAt - now < roundsMs / 2) {
      const again = await this.sealed(text, name);
      await inTime(documents.put(name, stored.version + 1, again, now + roundsMs)).catch(() => false);
    }
    return text;
  }

  private async sealed(text: string, name: string): Promise<string> {
    const { seal } = this.parts;
    return seal === null ? text : seal.seal(text, name);
  }

  private async read(name: string) {
    const stored = await inTime(this.parts.documents.find(name));
    const isGone =
      stored?.expiresAt !== undefined && stored.expiresAt !== null && stored.expiresAt <= this.parts.clock.now();
    return stored === undefined || isGone ? null : stored;
  }

  private async put(name: string, text: string, expiresAt: number): Promise<void> {
    const { documents } = this.parts;
    for (let attempt = 1, version = 1; attempt <= attempts; attempt++) {
      if (await documents.put(name, version, text, expiresAt)) return;
      version = ((await documents.find(name))?.version ?? 0) + 1;
    }
  }

  private markName({ tenantId, userId }: SessionOwner, { text, isUnique }: RoundsKey): string {
    const hash = this.parts.digest(isUnique ? text : JSON.stringify([tenantId, userId, text]));
    return `discovery-marks/${hash}`;
  }

  private remember(name: string, marked: Remembered | null): void {
    this.remembered.delete(name);
    this.remembered.set(name, marked ?? { missedAt: this.parts.clock.now() });
    if (this.remembered.size <= mostRemembered) return;
    const [oldest = ''] = this.remembered.keys();
    this.remembered.delete(oldest);
  }
}

const attempts = 5;

interface Remembered {
  readonly id: string;
  readonly mark: string;
}

function roundsName({ tenantId, userId }: SessionOwner, id: string): string {
  return `discovery-rounds/${[tenantId, userId, id].map((part) => encodeURIComponent(part)).join('/')}`;
}

/** A text that is none, as of a later version, says nothing. */
function rememberedIn(text: string): Remembered | null {
  const value = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
  const { id, mark } = value ?? {};
  return typeof id === 'string' && typeof mark === 'string' ? { id, mark } : null;
}
