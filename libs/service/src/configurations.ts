import { compileEvaluator, Fault } from '@sluice/core';
import type { Configuration, Evaluator } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';

/** A configuration with its compiled rules. */
export interface Loaded {
  readonly configuration: Configuration;
  readonly evaluator: Evaluator;
}

const waitForVersionMs = 5_000;
const compiledKept = 16;

/** Follows agent.config: the last record is in force, and every version ever in force can still be had (DESIGN, idea 13). */
export class Configurations {
  private readonly sources = new Map<string, string>();
  private readonly compiled = new Map<string, Loaded>();
  private readonly listeners: ((loaded: Loaded) => void)[] = [];
  private readonly stopping = new AbortController();
  private inForce: Loaded | undefined;
  private following: Promise<void> = Promise.resolve();

  constructor(
    private readonly bus: Bus,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** Reads what there is, then goes on following until close(). */
  async start(): Promise<void> {
    let next = 0;
    for await (const { record, offset } of this.bus.read([topics.config], { from: 'start' })) {
      this.take(record.version, record.configuration);
      next = offset + 1;
    }
    this.following = this.follow(next);
  }

  /** The configuration in force. Throws a retryable Fault while there is none. */
  current(): Loaded {
    if (this.inForce === undefined) throw new Fault('unknown_configuration', 'No configuration is in force yet.', true);
    return this.inForce;
  }

  /** The same, for what is only told on the side. */
  inForceOrNull(): Loaded | null {
    return this.inForce ?? null;
  }

  /** The configuration that a record names; waits a little for one that is on its way. */
  async version(version: string): Promise<Loaded> {
    if (!this.sources.has(version)) await this.arrival(version);
    return this.load(version);
  }

  onChange(listener: (loaded: Loaded) => void): void {
    this.listeners.push(listener);
    if (this.inForce !== undefined) listener(this.inForce);
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await this.following;
  }

  private async follow(from: number): Promise<void> {
    let next = from;
    const signal = this.stopping.signal;
    while (!signal.aborted) {
      try {
        for await (const { record, offset } of this.bus.read([topics.config], {
          from: { offset: next },
          follow: true,
          signal,
        })) {
          this.take(record.version, record.configuration);
          next = offset + 1;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.log.error({ error: (error as Error).message }, 'agent.config cannot be followed; trying again');
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }

  private take(version: string, source: string): void {
    this.sources.set(version, source);
    const loaded = this.load(version);
    if (loaded === this.inForce) return;
    this.inForce = loaded;
    this.measure(loaded);
    for (const listener of this.listeners) listener(loaded);
  }

  private load(version: string): Loaded {
    let loaded = this.compiled.get(version);
    if (loaded === undefined) {
      const configuration = JSON.parse(this.sources.get(version) as string) as Configuration;
      loaded = { configuration, evaluator: compileEvaluator(configuration) };
    }
    this.compiled.delete(version);
    this.compiled.set(version, loaded);
    const oldest = this.compiled.keys().next().value;
    if (this.compiled.size > compiledKept && oldest !== undefined) this.compiled.delete(oldest);
    return loaded;
  }

  private async arrival(version: string): Promise<void> {
    const until = performance.now() + waitForVersionMs;
    while (!this.sources.has(version)) {
      if (performance.now() > until) {
        throw new Fault(
          'unknown_configuration',
          `The record names configuration ${version}, which is not on agent.config.`,
          true,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private measure({ configuration, evaluator }: Loaded): void {
    this.metrics.configuration.reset();
    this.metrics.configuration.set({ version: configuration.version }, 1);
    this.metrics.groupAvailability.reset();
    this.metrics.stateAvailability.reset();
    for (const [group, tools] of evaluator.rules.availabilityByGroup())
      this.metrics.groupAvailability.set({ group }, tools);
    for (const [state, tools] of evaluator.rules.availabilityByState())
      this.metrics.stateAvailability.set({ state }, tools);
  }
}
