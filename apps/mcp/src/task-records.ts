import { claimMemoryMs } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { runTopics, sha256 } from '@sluice/contracts';
import type { Runtime } from '@sluice/host';
import { sessionKey, ttlOf } from '@sluice/mcp';
import type { TaskEnd } from '@sluice/mcp';
import type { BegunCall } from './calls.service.js';
import { changeValue, keptValue } from './kept-values.js';

/** Tasks of one caller that are kept, at most; one that has ended makes room for a new one. */
export const mostTasks = 100;

/** A call as a task: what is known of it beside the log, for whichever replica is asked. */
export interface TaskRecord extends BegunCall {
  /** That of its run. */
  readonly id: string;
  /** The session that it was begun in. */
  readonly session: string;
  readonly toolId: string;
  /** The tool’s name for the client. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly ttl: number;
  /** Whether the client that began it shows forms. */
  readonly hasForms: boolean;
  /** How it has ended, once that is known; the first end stays. */
  readonly ended: TaskEnd | null;
}

type Keeping = Pick<Runtime, 'documents' | 'clock' | 'environment'>;

/**
 * The tasks of callers, in the ledger’s database: an id opens its own caller’s task alone. What a task came to is on
 * the log, and kept there alone.
 */
export class TaskRecords {
  /** What begins now, by whose it is. */
  private readonly beginnings = new Map<string, Promise<unknown>>();

  constructor(private readonly keeping: Keeping) {}

  /** Null for an id of no task of the caller’s, or of one that is no longer kept. */
  async find(id: string, principal: Principal): Promise<TaskRecord | null> {
    return (await keptValue<TaskRecord>(this.keeping, keyOf(id, principal)))?.value ?? null;
  }

  /** The caller’s tasks, the oldest first. */
  async all(principal: Principal): Promise<readonly TaskRecord[]> {
    const { documents, clock } = this.keeping;
    const { first } = await documents.tally(ofCaller(principal), clock.now(), mostTasks);
    const found = await Promise.all(first.map((key) => keptValue<TaskRecord>(this.keeping, key)));
    const tasks = found.flatMap((kept) => (kept === null ? [] : [kept.value]));
    return tasks.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
  }

  /**
   * The task of this id, as `begin` makes it where there is none yet; null where the caller has as many tasks as it may
   * have, all of them under way.
   */
  async begin(
    id: string,
    principal: Principal,
    ttl: number | undefined,
    begin: () => Promise<Omit<TaskRecord, 'id' | 'createdAt' | 'ttl' | 'ended'>>,
  ): Promise<TaskRecord | null> {
    const caller = ofCaller(principal);
    // One after another, or a flood would find room for each of many at a time.
    const before = this.beginnings.get(caller) ?? Promise.resolve();
    const begun = before.then(async () => {
      const known = await this.find(id, principal);
      if (known === null && !(await this.makeRoom(principal))) return null;
      // Also of a task that is there: the key may be that of another call.
      const made = await begin();
      if (known !== null) return known;
      const record: TaskRecord = {
        ...{ ...made, id, createdAt: this.keeping.clock.now() },
        ...{ ttl: ttlOf(ttl, this.longest()), ended: null },
      };
      await changeValue<TaskRecord>(this.keeping, keyOf(id, principal), record.ttl, () => record);
      return record;
    });
    const settled = begun.then(nothing, nothing);
    this.beginnings.set(caller, settled);
    try {
      return await begun;
    } finally {
      if (this.beginnings.get(caller) === settled) this.beginnings.delete(caller);
    }
  }

  /** Says how the task has ended; the end that counts. */
  async end({ id, createdAt, ttl }: TaskRecord, principal: Principal, ended: TaskEnd): Promise<TaskEnd> {
    const left = createdAt + ttl - this.keeping.clock.now();
    let counts = ended;
    await changeValue<TaskRecord>(this.keeping, keyOf(id, principal), left, (before) => {
      counts = before?.ended ?? ended;
      return before === null || before.ended !== null ? null : { ...before, ended };
    });
    return counts;
  }

  /** Whether there is room for one more, for which the one is left out that ended and would go first. */
  private async makeRoom(principal: Principal): Promise<boolean> {
    const { documents, clock } = this.keeping;
    const { count, first } = await documents.tally(ofCaller(principal), clock.now(), mostTasks);
    if (count < mostTasks) return true;
    for (const key of first) {
      const task = await keptValue<TaskRecord>(this.keeping, key);
      if (task !== null && task.value.ended === null) continue;
      // It expires at once, and is swept with what has expired.
      await changeValue<TaskRecord>(this.keeping, key, 0, (before) => before);
      return true;
    }
    return false;
  }

  /** How long a task can be kept, in milliseconds: its records are on the log, and its key is known, for as long. */
  private longest(): number {
    const { retention } = this.keeping.environment;
    const kept = runTopics.map((topic) => retention[topic].ms).filter((ms) => ms >= 0);
    return Math.min(claimMemoryMs, ...kept);
  }
}

function ofCaller(principal: Principal): string {
  return `mcp/task/${sha256(principal.tenantId).slice(0, 32)}/${sessionKey('', principal).slice(0, 32)}/`;
}

function keyOf(id: string, principal: Principal): string {
  return `${ofCaller(principal)}${sha256(id).slice(0, 40)}`;
}

function nothing(): void {
  // Who began it hears of it.
}
