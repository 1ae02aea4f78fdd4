import { randomBytes, timingSafeEqual } from 'node:crypto';
import { ContentTooLargeError, Fault } from '@sluice/core';
import type {
  Clock,
  ContentName,
  ContentOwner,
  ContentRef,
  ContentStore,
  OpenContent,
  StoredContent,
  Swept,
  WrittenContent,
} from '@sluice/core';
import type { Backend, Draft, Mark, Stored } from './backend.js';
import { mediaType, readHead, writeHead } from './head.js';
import type { Head } from './head.js';
import { ownKeyId, sealingKey, tenantHasher } from './keys.js';
import type { ContentKey } from './keys.js';
import { isHash, ownerKey } from './refs.js';
import { Sealer, SealBrokenError, unsealed } from './sealing.js';

export interface StoreOptions {
  readonly clock: Clock;
  /** The first seals and hashes, all open; without any, content is kept in the clear. */
  readonly keys: readonly ContentKey[];
  /** Bytes that content may have. */
  readonly maxBytes: number;
}

/** How long after it was written content may be without a record that names it: retries and redrives are over. */
const graceMs = 24 * 3_600_000;

/** Bytes of what is there whole that are written at a time. */
const pieceBytes = 262_144;

/** Marks that are looked at together. */
const sweepPortion = 100;

/** The store on a place that holds bytes. */
export async function storeOn(backend: Backend, options: StoreOptions): Promise<ContentStore> {
  const own: ContentKey = { id: ownKeyId, bytes: await backend.ownKey() };
  return new Store(backend, own, options);
}

class Store implements ContentStore {
  constructor(
    private readonly backend: Backend,
    private readonly own: ContentKey,
    private readonly options: StoreOptions,
  ) {}

  async put(
    owner: ContentOwner,
    type: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    expiresAt: number | null,
  ): Promise<ContentName> {
    const { clock, keys, maxBytes } = this.options;
    const key = keys[0] ?? this.own;
    const salt = randomBytes(16);
    const sealer = keys[0] === undefined ? null : new Sealer(sealingKey(keys[0], salt, ownerKey(owner)));
    const hasher = tenantHasher(key, owner.tenantId);
    let size = 0;
    if (content instanceof Uint8Array && content.length > maxBytes) throw new ContentTooLargeError(maxBytes);
    const draft: Draft = await this.backend.begin();
    try {
      for await (const bytes of content instanceof Uint8Array ? piecesOf(content) : content) {
        size += bytes.length;
        if (size > maxBytes) throw new ContentTooLargeError(maxBytes);
        hasher.update(bytes);
        if (sealer === null) await draft.append(bytes);
        else for (const sealed of sealer.push(bytes)) await draft.append(sealed);
      }
      const name = { hash: hasher.digest('hex'), type: mediaType(type), size };
      if (sealer !== null) await draft.append(sealer.end(aboutOf(name)));
      const writtenAt = clock.now();
      const seal = sealer === null ? null : { key: key.id, salt: salt.toString('base64') };
      const ref = { tenantId: owner.tenantId, runId: owner.runId, hash: name.hash };
      const firstWrittenAt = (await this.firstWriteOf(ref)) ?? writtenAt;
      const head: Head = { type: name.type, size, writtenAt, firstWrittenAt, expiresAt, hashKey: key.id, seal };
      const at = Math.min(writtenAt + graceMs, expiresAt ?? Infinity);
      await draft.finish(ref, writeHead(head), writtenAt, { ref, at, named: false });
      return name;
    } catch (error) {
      await draft.abandon();
      throw error;
    }
  }

  async open(owner: ContentOwner, hash: string): Promise<OpenContent | undefined> {
    if (!isHash(hash)) return undefined;
    const ref = { ...owner, hash };
    const stored = await this.backend.find(ref);
    if (stored === undefined) return undefined;
    const head = readHead(stored.head);
    if (head === null) throw corrupt(ref, 'what is written beside it cannot be read');
    if (this.isOver(head)) return undefined;
    return { ...contentOf(hash, head), bytes: () => this.read(ref, head, stored) };
  }

  async list(owner: ContentOwner): Promise<readonly StoredContent[]> {
    const there = (await this.backend.list(owner)).flatMap(([hash, text]) => {
      const head = readHead(text);
      return head === null || this.isOver(head) ? [] : [contentOf(hash, head)];
    });
    return there.sort((one, other) => (one.hash < other.hash ? -1 : 1));
  }

  remove(owner: ContentOwner): Promise<void> {
    return this.backend.removeAll(owner);
  }

  async sweep(
    areNamed: (written: readonly WrittenContent[]) => Promise<readonly boolean[]>,
    signal?: AbortSignal,
  ): Promise<Swept> {
    const now = this.options.clock.now();
    const swept = { expired: 0, unnamed: 0 };
    await this.backend.tidy(now - graceMs);
    for (;;) {
      const marks = await this.backend.due(now, sweepPortion);
      signal?.throwIfAborted();
      const found = await Promise.all(marks.map(async (mark) => ({ mark, head: await this.headOf(mark) })));
      const open = found.filter(({ mark, head }) => head !== null && isToBeAsked(mark, head, now));
      const named = open.length === 0 ? [] : await areNamed(open.map(writtenOf));
      const isNamed = new Map(open.map(({ mark }, index) => [mark, named[index] !== false]));
      for (const { mark, head } of found) {
        signal?.throwIfAborted();
        await this.settle(mark, head, isNamed.get(mark) ?? null, now, swept);
      }
      if (marks.length < sweepPortion) return swept;
    }
  }

  check(): Promise<void> {
    return this.backend.check();
  }

  close(): Promise<void> {
    return this.backend.close();
  }

  /** What a mark whose time has come leads to. It goes last, so that a sweep that was ended begins there again. */
  private async settle(
    mark: Mark,
    head: Head | null,
    isNamed: boolean | null,
    now: number,
    swept: { expired: number; unnamed: number },
  ): Promise<void> {
    if (head !== null && isOver(head, now)) {
      await this.backend.remove(mark.ref, head.writtenAt);
      swept.expired++;
    } else if (head !== null && isNamed === false) {
      await this.backend.remove(mark.ref, head.writtenAt);
      swept.unnamed++;
    } else if (head !== null && head.expiresAt !== null && (mark.named || isNamed === true))
      await this.backend.mark({ ...mark, at: head.expiresAt, named: true });
    await this.backend.unmark(mark);
  }

  private async headOf({ ref }: Mark): Promise<Head | null> {
    const stored = await this.backend.find(ref);
    return stored === undefined ? null : readHead(stored.head);
  }

  /** When it was written first, where it is there already: a record may name it since then. */
  private async firstWriteOf(ref: ContentRef): Promise<number | null> {
    const stored = await this.backend.find(ref);
    const head = stored === undefined ? null : readHead(stored.head);
    return head === null || this.isOver(head) ? null : firstWriteIn(head);
  }

  private async *read(ref: ContentRef, head: Head, stored: Stored): AsyncIterable<Uint8Array> {
    if (head.hashKey !== (head.seal?.key ?? ownKeyId)) throw corrupt(ref, 'what is written beside it contradicts itself'); // prettier-ignore
    const hashKey = this.keyOf(head.hashKey);
    const hasher = hashKey === undefined ? null : tenantHasher(hashKey, ref.tenantId);
    let given = 0;
    for (let now = { head, stored }; ;) {
      let at = 0;
      let problem: string | null = null;
      try {
        for await (const bytes of this.plain(ref, now.head, now.stored)) {
          const further = bytes.subarray(Math.max(0, given - at));
          at += bytes.length;
          if (at > head.size) break;
          given += further.length;
          hasher?.update(further);
          if (further.length > 0) yield further;
        }
        if (at !== head.size) problem = `it should have ${head.size} bytes`;
      } catch (error) {
        if (!(error instanceof SealBrokenError)) throw error;
        problem = 'its seal is broken';
      }
      if (problem === null) break;
      now = await this.writtenAgain(ref, now.stored, problem);
    }
    if (hasher === null || !timingSafeEqual(hasher.digest(), Buffer.from(ref.hash, 'hex')))
      throw corrupt(ref, 'its hash is another one');
  }

  /** The same content, where it was replaced while it was read: that is no damage, and reading goes on there. */
  private async writtenAgain(
    ref: ContentRef,
    before: Stored,
    problem: string,
  ): Promise<{ head: Head; stored: Stored }> {
    const stored = await this.backend.find(ref);
    if (stored === undefined) {
      const message = `The content ${short(ref)} of the run ${ref.runId} was removed while it was read.`;
      throw new Fault('content_unreachable', message, false);
    }
    const head = readHead(stored.head);
    if (head === null || stored.head === before.head) throw corrupt(ref, problem);
    return { head, stored };
  }

  private plain(ref: ContentRef, head: Head, stored: Stored): AsyncIterable<Uint8Array> {
    if (head.seal === null) return stored.read();
    const key = this.options.keys.find(({ id }) => id === head.seal?.key);
    if (key === undefined) {
      const message = `The content ${short(ref)} is sealed with the key ${head.seal.key}, which this process does not have. Put it behind the first of the content keys.`;
      throw new Fault('content_unreachable', message, false);
    }
    const own = sealingKey(key, Buffer.from(head.seal.salt, 'base64'), ownerKey(ref));
    return unsealed(stored.read(), own, aboutOf({ ...head, hash: ref.hash }));
  }

  private keyOf(id: string): ContentKey | undefined {
    return id === ownKeyId ? this.own : this.options.keys.find((key) => key.id === id);
  }

  private isOver(head: Head): boolean {
    return isOver(head, this.options.clock.now());
  }
}

function* piecesOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

function isOver({ expiresAt }: Head, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function firstWriteIn({ writtenAt, firstWrittenAt = writtenAt }: Head): number {
  return firstWrittenAt;
}

/** Whether a record names it is to be found out: it was not written again since the mark was made. */
function isToBeAsked(mark: Mark, head: Head, now: number): boolean {
  return !mark.named && !isOver(head, now) && head.writtenAt + graceMs <= now;
}

function writtenOf({ mark, head }: { readonly mark: Mark; readonly head: Head | null }): WrittenContent {
  return { ...mark.ref, writtenAt: head === null ? mark.at - graceMs : firstWriteIn(head) };
}

function contentOf(hash: string, { type, size, writtenAt, expiresAt }: Head): StoredContent {
  return { hash, type, size, writtenAt, expiresAt };
}

/** What the last segment of a seal vouches for. */
function aboutOf({
  hash,
  type,
  size,
}: {
  readonly hash: string;
  readonly type: string;
  readonly size: number;
}): string {
  return JSON.stringify([hash, type, size]);
}

function corrupt(ref: ContentRef, why: string): Fault {
  const message = `The content ${short(ref)} of the run ${ref.runId} is not what was written: ${why}. Restore it from a copy.`;
  return new Fault('content_corrupt', message, false);
}

function short({ hash }: ContentRef): string {
  return hash.slice(0, 12);
}
