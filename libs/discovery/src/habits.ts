import { isJsonObject } from '@sluice/core';
import type { Clock, Documents } from '@sluice/core';

const dayMs = 24 * 3_600_000;
/** A call counts half after so long. */
const habitHalfLifeMs = 7 * dayMs;
/** Names that a tenant’s habits hold; those that count least go first. */
const mostNames = 1_000;
/** Habits that were not used for so long are gone. */
const habitsMs = 60 * dayMs;
/** Another instance’s write is read and joined so often. */
const attempts = 5;

/** How much each tool was called of late: a call counts 1 at first. */
export type Habits = ReadonlyMap<string, number>;

/**
 * Which tools the models of each tenant really called, in the ledger’s database, for all instances. Names alone are
 * kept, and only where the configuration asks for it. Rejects with the faults of the documents.
 */
export class HabitStore {
  constructor(
    private readonly documents: Documents,
    private readonly clock: Clock,
  ) {}

  async find(tenantId: string): Promise<Habits> {
    const stored = await this.documents.find(keyOf(tenantId));
    return stored === undefined ? new Map() : decayed(stored.text, this.clock.now());
  }

  async note(tenantId: string, called: readonly string[]): Promise<void> {
    if (called.length === 0) return;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const now = this.clock.now();
      const stored = await this.documents.find(keyOf(tenantId));
      const habits = new Map(stored === undefined ? [] : decayed(stored.text, now));
      for (const name of called) habits.set(name, (habits.get(name) ?? 0) + 1);
      const kept = [...habits].sort(([, one], [, other]) => other - one).slice(0, mostNames);
      const text = JSON.stringify({ at: now, calls: kept });
      if (await this.documents.put(keyOf(tenantId), (stored?.version ?? 0) + 1, text, now + habitsMs)) return;
    }
  }
}

/** From 0 for a tool that was not called to 1 for the one that was called most. */
export function habitShares(habits: Habits, names: readonly string[]): readonly number[] {
  const most = names.reduce((found, name) => Math.max(found, habits.get(name) ?? 0), 0);
  return names.map((name) => (most === 0 ? 0 : (habits.get(name) ?? 0) / most));
}

function keyOf(tenantId: string): string {
  return `discovery-habits/${encodeURIComponent(tenantId)}`;
}

/** A text that is none, as of a later version, says nothing. */
function decayed(text: string, now: number): Habits {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // As below.
  }
  if (!isJsonObject(value) || !Array.isArray(value['calls'])) return new Map();
  const age = Math.max(0, now - (typeof value['at'] === 'number' ? value['at'] : now));
  const factor = 0.5 ** (age / habitHalfLifeMs);
  return new Map(
    (value['calls'] as unknown[]).flatMap((item): readonly (readonly [string, number])[] => {
      const [name, weight] = Array.isArray(item) ? (item as unknown[]) : [];
      return typeof name === 'string' && typeof weight === 'number' ? [[name, weight * factor]] : [];
    }),
  );
}
