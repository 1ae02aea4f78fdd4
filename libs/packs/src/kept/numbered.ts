import { createHash } from 'node:crypto';
import { Fault, ToolOutcomeLostError, ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { Documents } from '@sluice/core';

/** An entry under its number. */
interface Numbered<T> {
  /** From 1, without gaps. */
  readonly number: number;
  readonly value: T;
}

interface Entry<T> {
  readonly key: string;
  readonly value: T;
}

const attempts = 200;
const readAtOnce = 20;

/**
 * A list in the ledger’s documents to which any number of processes may append at once. Entries are kept and never
 * change. Each has a key: the same key again gives the entry that is there. The number is decided by the write of the
 * entry itself, of which there can be one; where a key wants to go is written down before, so that a call that was
 * interrupted ends in its own entry.
 */
export class NumberedDocuments<T> {
  /** `noun` names the list in sentences, such as “list of citations”. */
  constructor(
    private readonly documents: Documents,
    private readonly prefix: string,
    private readonly noun: string,
    private readonly most: number,
  ) {}

  async append(key: string, value: T): Promise<Numbered<T>> {
    const by = `${this.prefix}/by/${createHash('sha256').update(key).digest('hex')}`;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const wanted = await this.find<{ readonly number: number }>(by);
      const number = wanted?.value.number ?? (await this.count()) + 1;
      if (number > this.most) throw new ToolUserError(`The ${this.noun} has ${this.most} entries, which is the most.`);
      if (wanted === undefined && !(await this.put(by, 1, { number }))) continue;
      const added = await this.put(this.at(number), 1, { key, value });
      const entry = added ? { key, value } : (await this.find<Entry<T>>(this.at(number)))?.value;
      if (entry?.key === key) {
        await this.raise(number);
        return { number, value: entry.value };
      }
      await this.raise(number);
      const next = Math.max(number, await this.count()) + 1;
      await this.put(by, (wanted?.version ?? 1) + 1, { number: next });
    }
    throw new ToolUnavailableError(`The ${this.noun} is being changed by others.`);
  }

  /** The entry that was added under this key, if there is one. */
  async byKey(key: string): Promise<Numbered<T> | undefined> {
    const by = await this.find<{ readonly number: number }>(
      `${this.prefix}/by/${createHash('sha256').update(key).digest('hex')}`,
    );
    if (by === undefined) return undefined;
    const entry = await this.find<Entry<T>>(this.at(by.value.number));
    return entry?.value.key === key ? { number: by.value.number, value: entry.value.value } : undefined;
  }

  async get(number: number): Promise<T | undefined> {
    return (await this.find<Entry<T>>(this.at(number)))?.value.value;
  }

  /** In the order of their numbers, from the one behind `after` on. */
  async list(after: number, most: number): Promise<readonly Numbered<T>[]> {
    const found: Numbered<T>[] = [];
    const last = Math.min(await this.count(), after + most);
    for (let from = after + 1; from <= last; from += readAtOnce) {
      const numbers = Array.from({ length: Math.min(readAtOnce, last - from + 1) }, (_, at) => from + at);
      const values = await Promise.all(numbers.map((number) => this.get(number)));
      numbers.forEach((number, at) => {
        const value = values[at];
        if (value !== undefined) found.push({ number, value });
      });
    }
    return found;
  }

  async count(): Promise<number> {
    return (await this.find<{ readonly count: number }>(this.prefix))?.value.count ?? 0;
  }

  private at(number: number): string {
    return `${this.prefix}/${number}`;
  }

  /** The count is at least this from now on. */
  private async raise(number: number): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const head = await this.find<{ readonly count: number }>(this.prefix);
      if ((head?.value.count ?? 0) >= number) return;
      if (await this.put(this.prefix, (head?.version ?? 0) + 1, { count: number })) return;
    }
  }

  private async find<V>(key: string): Promise<{ readonly version: number; readonly value: V } | undefined> {
    try {
      const stored = await this.documents.find(key);
      return stored === undefined ? undefined : { version: stored.version, value: JSON.parse(stored.text) as V };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new ToolUnavailableError(`The ${this.noun} cannot be reached.`, { cause: error });
    }
  }

  private async put(key: string, version: number, value: unknown): Promise<boolean> {
    try {
      return await this.documents.put(key, version, JSON.stringify(value), null);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw new ToolOutcomeLostError(`The ${this.noun} could not be reached while it was written.`, { cause: error });
    }
  }
}
