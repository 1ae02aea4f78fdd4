import { measuresOf } from '@sluice/core';
import type { RuleFacts } from '@sluice/core';
import { measuredFor, readLoad } from '@sluice/run';
import type { Loaded, Measured } from '@sluice/run';
import type { Runtime } from '../runtime.js';
import { askPrometheus } from './prometheus.js';

/** How long a measured value is used: rules are about trends, and each decision must not ask again. */
const ownKeptMs = 500;
const prometheusKeptMs = 5_000;

const nothing: Measured = Object.freeze({ loads: Object.freeze({}), held: Object.freeze([]) });

/**
 * Measures what rules about load need. What a rule closed before is kept here, for the values between its two
 * thresholds.
 */
export class LoadWatch {
  private held: readonly string[] = [];
  private readonly values = new Map<string, { readonly value: Promise<number | null>; readonly until: number }>();

  constructor(private readonly runtime: Pick<Runtime, 'clock' | 'documents' | 'log' | 'metrics'>) {}

  /** What is measured now, for a decision under this configuration. */
  async measured({ configuration, evaluator }: Loaded): Promise<Measured> {
    const measures = measuresOf(configuration.rules ?? []);
    if (measures.size === 0) return nothing;
    const address = configuration.monitoring?.prometheusUrl ?? '';
    const values = await Promise.all(
      [...measures].map(async ([name, query]) => [name, await this.value(name, query, address)] as const),
    );
    const loads: RuleFacts['loads'] = Object.fromEntries(values);
    const measured = measuredFor(evaluator, loads, this.held);
    this.held = measured.held;
    return measured;
  }

  private value(name: string, query: string | null, address: string): Promise<number | null> {
    const now = this.runtime.clock.now();
    const known = this.values.get(name);
    if (known !== undefined && now < known.until) return known.value;
    const value = query === null ? this.own(name) : this.asked(name, query, address);
    this.values.set(name, { value, until: now + (query === null ? ownKeptMs : prometheusKeptMs) });
    return value;
  }

  private async own(name: string): Promise<number | null> {
    const { documents, clock } = this.runtime;
    const load = await readLoad(documents, clock.now());
    const value = load === null ? null : name === 'calls_in_flight' ? load.inFlight : load.p95;
    if (value === null) this.failed(name, 'no executor reports it');
    else this.runtime.metrics.measuredLoad.set({ measure: name }, value);
    return value;
  }

  private async asked(name: string, query: string, address: string): Promise<number | null> {
    try {
      const value = await askPrometheus(address, query);
      this.runtime.metrics.measuredLoad.set({ measure: 'prometheus' }, value);
      return value;
    } catch (error) {
      this.failed(name, (error as Error).message);
      return null;
    }
  }

  private failed(measure: string, why: string): void {
    this.runtime.metrics.unmeasuredLoads.inc();
    this.runtime.log.warn({ measure, why }, 'a load could not be measured, so the rules about it close their tools');
  }
}
