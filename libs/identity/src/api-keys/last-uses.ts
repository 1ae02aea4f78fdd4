import type { Documents } from '@sluice/core';

/** How often the use of one key is written by one process, in milliseconds. */
const everyMs = 60_000;
/** Keys whose last writing is remembered. */
const mostRemembered = 10_000;

const documentOf = (id: string): string => `api-key-use/${id}`;

/**
 * When each key was last used, written at most once a minute and never waited for: a request does not fail because of
 * it.
 */
export class LastUses {
  private readonly written = new Map<string, number>();

  constructor(private readonly documents: Documents) {}

  note(id: string, at: number): void {
    const before = this.written.get(id);
    if (before !== undefined && at - before < everyMs) return;
    if (this.written.size >= mostRemembered) this.written.clear();
    this.written.set(id, at);
    this.write(id, at).catch(() => this.written.delete(id));
  }

  async of(id: string): Promise<number | null> {
    const stored = await this.documents.find(documentOf(id));
    return stored === undefined ? null : Number(stored.text);
  }

  /** Of two processes that write at once, one is lost; the next use is written again. */
  private async write(id: string, at: number): Promise<void> {
    const stored = await this.documents.find(documentOf(id));
    if (stored !== undefined && Number(stored.text) >= at) return;
    const keptUntil = at + 366 * 24 * 3_600_000;
    await this.documents.put(documentOf(id), (stored?.version ?? 0) + 1, String(at), keptUntil);
  }
}
