import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { topics } from '@sluice/contracts';
import type { AgentStep, StepContent } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { Fault } from '@sluice/core';
import type { ContentOwner, ContentStore } from '@sluice/core';
import { tenantOf } from '@sluice/run';

/** What was written of the content that the exported records name. */
interface ContentWritten {
  /** Pieces that were written, and their bytes. */
  pieces: number;
  bytes: number;
  /** Pieces that the store has no longer, or not as they were written. */
  missing: number;
}

/**
 * Writes content that records name into a folder: each piece as a file with its hash for a name, and `content.jsonl`
 * with a line for each piece of each run. A piece is whole or not there: it is written beside, and then renamed.
 */
export class ContentExport {
  readonly written: ContentWritten = { pieces: 0, bytes: 0, missing: 0 };
  private readonly seen = new Set<string>();

  private constructor(
    private readonly folder: string,
    private readonly index: FileHandle,
    private readonly store: Pick<ContentStore, 'open'>,
  ) {}

  /** Throws where the folder has an export already. */
  static async into(folder: string, store: Pick<ContentStore, 'open'>): Promise<ContentExport> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'content.jsonl');
    const index = await open(file, 'wx', 0o600).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new Error(`${file} is there already. Name a folder without an export.`, { cause: error });
    });
    return new ContentExport(folder, index, store);
  }

  /** The same records, each passed on once its content is written. */
  async *of(records: AsyncIterable<Incoming>): AsyncGenerator<Incoming, void, undefined> {
    for await (const message of records) {
      const tenantId = tenantOf(message);
      if (tenantId !== null)
        for (const { runId, content } of namedIn(message)) await this.write({ tenantId, runId }, content);
      yield message;
    }
  }

  close(): Promise<void> {
    return this.index.close();
  }

  private async write(owner: ContentOwner, named: StepContent): Promise<void> {
    const name = JSON.stringify([owner.tenantId, owner.runId, named.hash]);
    if (this.seen.has(name)) return;
    this.seen.add(name);
    const found = await this.copy(owner, named.hash);
    if (typeof found === 'string') this.written.missing++;
    else {
      this.written.pieces++;
      this.written.bytes += named.size;
    }
    const line = {
      ...{ tenant: owner.tenantId, request_id: owner.runId, ...named },
      ...(typeof found === 'string' ? { file: null, missing: found } : { file: named.hash, ...found }),
    };
    await this.index.appendFile(`${JSON.stringify(line)}\n`);
  }

  private async copy(owner: ContentOwner, hash: string): Promise<{ readonly sha256: string } | 'gone' | 'corrupt'> {
    const stored = await this.store.open(owner, hash);
    if (stored === undefined) return 'gone';
    const beside = join(this.folder, `${hash}.part`);
    const sha256 = createHash('sha256');
    const pass = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      for await (const piece of stored.bytes()) {
        sha256.update(piece);
        yield piece;
      }
    };
    try {
      await writeFile(beside, pass(), { mode: 0o600 });
      await rename(beside, join(this.folder, hash));
      return { sha256: sha256.digest('hex') };
    } catch (error) {
      if (error instanceof Fault && error.code === 'content_corrupt') return 'corrupt';
      throw error;
    } finally {
      await rm(beside, { force: true });
    }
  }
}

interface Named {
  readonly runId: string;
  readonly content: StepContent;
}

/** Of steps, also of a turn that waits for a decision, and of the question: that stands in each of a run's toolsets. */
function namedIn({ topic, record }: Incoming): readonly Named[] {
  if (topic === topics.steps) {
    // Of a call that its request makes itself it is the first record, too.
    const asked = record.call === null ? [] : (record.next.content ?? []);
    return ofRun(record.requestId, [...asked, ...contentOf(record.steps)]);
  }
  if (topic === topics.toolsets) return ofRun(record.requestId, record.request.content ?? []);
  if (topic !== topics.approvals || record.requested === null) return [];
  return ofRun(record.requested.requestId, contentOf(record.requested.steps));
}

function contentOf(steps: readonly AgentStep[]): readonly StepContent[] {
  return steps.flatMap(({ content }) => content);
}

function ofRun(runId: string, all: readonly StepContent[]): readonly Named[] {
  return all.map((content) => ({ runId, content }));
}
