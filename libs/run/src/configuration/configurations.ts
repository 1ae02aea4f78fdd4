import { compileEvaluator, evaluatorFor, Fault } from '@sluice/core';
import type { AgentChoice, Configuration, Evaluator, Verifier } from '@sluice/core';
import { missingParts, topics } from '@sluice/contracts';
import type { Bus, Incoming, ReadOptions } from '@sluice/bus';
import type { RunLog, RunMetrics } from '../reporting.js';
import { ConfigurationRecords, configurationRefusals, nothingNew } from './records.js';
import type { ConfigurationRefusal, Judgement } from './records.js';

/** A configuration with its compiled rules. */
export interface Loaded {
  readonly configuration: Configuration;
  readonly evaluator: Evaluator;
}

/** The same as the runs of the agent that the request asks have it. */
export function loadedFor(common: Loaded, request: AgentChoice): Loaded {
  const evaluator = evaluatorFor(common.evaluator, request);
  if (evaluator === common.evaluator) return common;
  let loaded = ofAgents.get(evaluator);
  if (loaded === undefined) ofAgents.set(evaluator, (loaded = { configuration: evaluator.configuration, evaluator }));
  return loaded;
}

/** One for each, so that it can be seen whether two are the same. */
const ofAgents = new WeakMap<Evaluator, Loaded>();

/** Throws whatever is wrong with a configuration that agent.config has. */
export function compiledFrom(configuration: Configuration): Loaded {
  return { configuration, evaluator: compileEvaluator(configuration) };
}

type Place = Pick<Incoming, 'topic' | 'partition' | 'offset'>;

const waitForVersionMs = 5_000;
const compiledKept = 16;

/**
 * Follows agent.config: the last record that is signed and can be read is in force, and every version can still be had.
 * One that is not signed or cannot be read is skipped, since it must not keep out those behind it.
 */
export class Configurations {
  private readonly records: ConfigurationRecords;
  private readonly compiled = new Map<string, Loaded>();
  private readonly listeners: ((loaded: Loaded) => void)[] = [];
  private readonly stopping = new AbortController();
  private inForce: Loaded | undefined;
  private following: Promise<void> = Promise.resolve();

  constructor(
    private readonly bus: Bus,
    private readonly metrics: RunMetrics,
    private readonly log: RunLog,
    signatures: Verifier,
  ) {
    this.records = new ConfigurationRecords(signatures);
    // From 0: an alert sees no increase of a counter that begins with its first refusal.
    for (const source of ['file', 'log']) metrics.configurationRefused.inc({ source }, 0);
  }

  /** Reads what there is, then goes on following until close(). */
  async start(): Promise<void> {
    const judged: (readonly [Incoming<'agent.config'>, Judgement])[] = [];
    let next = 0;
    const passed = (after: number): void => void (next = after);
    for await (const message of this.bus.read([topics.config], { from: 'start', ...this.passingOver(passed) })) {
      next = message.offset + 1;
      const judgement = await this.records.take(message);
      // Of parts, which may be thousands, nothing is said but by the configurations that need them.
      if (judgement !== nothingNew) judged.push([message, judgement]);
    }
    // The others are compiled when a record names them: a shape that is no longer read keeps no service from starting.
    judged.findLast(([message, judgement]) => this.take(message, judgement));
    this.following = this.follow(next);
  }

  /** The configuration in force. Throws a retryable Fault while there is none. */
  current(): Loaded {
    if (this.inForce === undefined) throw new Fault('unknown_configuration', 'No configuration is in force yet.', true);
    return this.inForce;
  }

  /** The same, for uses that need no wait. */
  inForceOrNull(): Loaded | null {
    return this.inForce ?? null;
  }

  /**
   * The configuration that a record names; waits a little for one that is on its way. Throws a Fault if it cannot be
   * had or read.
   */
  async version(version: string): Promise<Loaded> {
    if (!this.records.contents.has(version)) await this.arrival(version);
    try {
      return this.load(version);
    } catch (error) {
      throw new Fault(
        'unknown_configuration',
        `The record names configuration ${version}, which is on agent.config and cannot be read here: ${(error as Error).message}`,
        true,
        { cause: error },
      );
    }
  }

  /** The same, if it is here by now and can be read. */
  versionOrNull(version: string): Loaded | null {
    if (!this.records.contents.has(version)) return null;
    try {
      return this.load(version);
    } catch {
      return null;
    }
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
    const passed = (after: number): void => void (next = after);
    const signal = this.stopping.signal;
    while (!signal.aborted) {
      try {
        for await (const message of this.bus.read([topics.config], {
          from: { offset: next },
          follow: true,
          signal,
          ...this.passingOver(passed),
        })) {
          next = message.offset + 1;
          this.take(message, await this.records.take(message));
        }
      } catch (error) {
        if (signal.aborted) return;
        this.log.error({ error: (error as Error).message }, 'agent.config cannot be followed; trying again');
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }

  private passingOver(passed: (after: number) => void): Pick<ReadOptions, 'onUndecodable'> {
    return {
      onUndecodable: (place, reason) => {
        this.tellOfUnreadable(place, reason);
        passed(place.offset + 1);
      },
    };
  }

  /** Puts what the record applies in force; false if that is nothing, or cannot be read: what is in force stays. */
  private take(message: Incoming<'agent.config'>, { applies, refusal, missing }: Judgement): boolean {
    if (refusal !== null) this.tellOfRefused(message, refusal);
    if (missing.length > 0) this.tellOfWaiting(message, missing);
    if (applies === null) return false;
    let loaded: Loaded;
    try {
      loaded = this.load(applies.version);
    } catch (error) {
      this.tellOfUnreadable(message, (error as Error).message);
      return false;
    }
    this.metrics.configurationPartsMissing.set(0);
    if (loaded === this.inForce) return true;
    this.inForce = loaded;
    this.measure(loaded);
    for (const listener of this.listeners) listener(loaded);
    return true;
  }

  private tellOfWaiting({ topic, partition, offset, record }: Incoming<'agent.config'>, missing: readonly string[]) {
    this.metrics.configurationRefused.inc({ source: 'log' });
    this.metrics.configurationPartsMissing.set(missing.length);
    this.log.error(
      { topic, partition, offset, config_version: record.version, source: record.source, missing: missing.length },
      `a configuration on agent.config waits: ${missingParts(missing, record.parts.length)} What was in force stays. Apply it again: \`sluice config apply FILE\``,
    );
  }

  private tellOfUnreadable({ topic, partition, offset }: Place, reason: string): void {
    this.metrics.configurationRefused.inc({ source: 'log' });
    this.log.error(
      { topic, partition, offset, reason },
      'a record on agent.config holds no configuration that can be read here and is ignored; the current one stays. Apply one that can be: `sluice config apply FILE`',
    );
  }

  private tellOfRefused({ topic, partition, offset, record }: Incoming<'agent.config'>, refusal: ConfigurationRefusal) {
    this.metrics.configurationRefused.inc({ source: 'log' });
    this.log.error(
      { topic, partition, offset, config_version: record.version, source: record.source, refusal },
      `a configuration on agent.config is refused: ${configurationRefusals[refusal]}; what was in force stays. Find out who wrote it. If it was you, apply it with the keys: \`sluice config apply FILE\``,
    );
  }

  private load(version: string): Loaded {
    const loaded = this.compiled.get(version) ?? compiledFrom(this.records.contents.get(version) as Configuration);
    return this.keep(version, loaded);
  }

  private keep(version: string, loaded: Loaded): Loaded {
    this.compiled.delete(version);
    this.compiled.set(version, loaded);
    const oldest = this.compiled.keys().next().value;
    if (this.compiled.size > compiledKept && oldest !== undefined) this.compiled.delete(oldest);
    return loaded;
  }

  private async arrival(version: string): Promise<void> {
    const until = performance.now() + waitForVersionMs;
    while (!this.records.contents.has(version)) {
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
