import { Fault } from '@sluice/core';
import type { Documents, StoredDocument } from '@sluice/core';

/** Documents in memory, with one text for whatever key. */
export class StoredTexts implements Documents {
  private stored: StoredDocument | undefined;
  isAway = false;
  written = 0;

  get text(): string {
    return this.stored?.text ?? '';
  }

  find(): Promise<StoredDocument | undefined> {
    if (this.isAway) return Promise.reject(new Fault('ledger_unreachable', 'It is away.', true));
    return Promise.resolve(this.stored);
  }

  put(_key: string, version: number, text: string, expiresAt: number | null): Promise<boolean> {
    if (version !== (this.stored?.version ?? 0) + 1) return Promise.resolve(false);
    this.stored = { version, text, expiresAt };
    this.written++;
    return Promise.resolve(true);
  }

  sweep(): Promise<void> {
    return Promise.resolve();
  }
}
