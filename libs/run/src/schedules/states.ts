import type { Documents, ScheduleSettings } from '@sluice/core';
import { newState } from './plan.js';
import type { ScheduleState } from './plan.js';

const key = 'schedules';
/** Writers that may be ahead of one, each time. */
const tries = 20;

type Written = Readonly<Record<string, Omit<ScheduleState, 'handledTo'> & { readonly handledTo: number | null }>>;

interface ReadStates {
  readonly version: number;
  readonly states: ReadonlyMap<string, ScheduleState>;
}

/**
 * The states of all schedules: one document of the ledger’s database, since every filter reads them each second. What
 * is to be started stands in it before it is published, so no process that is killed loses a due time.
 */
export class ScheduleStates {
  constructor(private readonly documents: Pick<Documents, 'find' | 'put'>) {}

  async read(): Promise<ReadStates> {
    const found = await this.documents.find(key);
    if (found === undefined) return { version: 0, states: new Map() };
    const all = Object.entries(JSON.parse(found.text) as Written);
    const states = all.map(([name, state]) => [name, { ...state, handledTo: state.handledTo ?? -Infinity }] as const);
    return { version: found.version, states: new Map(states) };
  }

  /** False if another one wrote before. Schedules that there are no more are left out. */
  async write({ version, states }: ReadStates, schedules: readonly Pick<ScheduleSettings, 'name'>[]): Promise<boolean> {
    const kept = schedules.flatMap(({ name }) => {
      const state = states.get(name);
      return state === undefined ? [] : [[name, state] as const];
    });
    return this.documents.put(key, version + 1, JSON.stringify(Object.fromEntries(kept)), null);
  }

  /** Changes one; null where `change` refuses. */
  async change(
    name: string,
    schedules: readonly Pick<ScheduleSettings, 'name'>[],
    change: (state: ScheduleState) => ScheduleState | null,
  ): Promise<ScheduleState | null> {
    for (let count = 0; count < tries; count++) {
      const { version, states } = await this.read();
      const before = states.get(name) ?? newState;
      const changed = change(before);
      if (changed === null || changed === before) return changed;
      if (await this.write({ version, states: new Map([...states, [name, changed]]) }, schedules)) return changed;
    }
    throw new Error('The states of the schedules change too often. Try again.');
  }
}
