import { compileEvaluator, evaluatorFor } from '@sluice/core';
import type { AgentChoice, Evaluator, Verifier } from '@sluice/core';
import { ConfigurationContents, topics } from '@sluice/contracts';
import type { WrittenConfigurations } from '@sluice/contracts';
import type { LogReader, ReadOptions } from '@sluice/bus';
import { ConfigurationRecords } from '@sluice/run';
import { NotReplayable } from './outcome.js';
import { agentOfRun } from './run-records.js';
import type { RunRecords } from './run-records.js';

/** Compiled configurations that are held at a time. */
const compiledKept = 16;

/** What a log says of its configurations: what they are, and since when each was in force. */
export interface Recorded {
  readonly written: WrittenConfigurations;
  readonly times: readonly { readonly version: string; readonly since: number }[];
}

/** Every configuration that was ever in force, and since when. */
export class RecordedConfigurations {
  private readonly compiled: Map<string, Evaluator>;
  /** Keys of the tools by version; null of what cannot be read. */
  private readonly keys: Map<string, ReadonlySet<string> | null>;

  private readonly contents: ConfigurationContents;

  /** With `agent` as that agent's runs had them, beside `of`, which has compiled some. */
  constructor(
    readonly recorded: Recorded,
    of: RecordedConfigurations | null = null,
    private readonly agent: AgentChoice | null = null,
  ) {
    this.compiled = of?.compiled ?? new Map();
    this.keys = of?.keys ?? new Map();
    this.contents = of?.contents ?? new ConfigurationContents(recorded.written);
  }

  /** The same as the run had them: those of the agent that it asked. */
  ofRun(run: RunRecords): RecordedConfigurations {
    const agent = agentOfRun(run);
    return agent === null ? this : new RecordedConfigurations(this.recorded, this, agent);
  }

  static async read(
    reader: LogReader,
    { signal, onUndecodable }: Required<Pick<ReadOptions, 'signal' | 'onUndecodable'>>,
    verifier: Verifier,
  ): Promise<RecordedConfigurations> {
    const records = new ConfigurationRecords(verifier);
    const times: { version: string; since: number }[] = [];
    const options = { from: 'start', signal, onUndecodable } as const;
    for await (const message of reader.read([topics.config], options)) {
      // A record that services refused is in force at no time.
      const { applies } = await records.take(message);
      if (applies !== null) times.push({ version: applies.version, since: message.timestamp });
    }
    return new RecordedConfigurations({ written: records.contents.written, times });
  }

  /** Throws NotReplayable if it was never recorded, or is of a shape that is no longer read. */
  get(version: string): Evaluator {
    let evaluator = this.compiled.get(version);
    if (evaluator === undefined) {
      evaluator = this.compile(version);
      const oldest = this.compiled.keys().next().value;
      if (this.compiled.size >= compiledKept && oldest !== undefined) this.compiled.delete(oldest);
      this.compiled.set(version, evaluator);
    }
    return this.agent === null ? evaluator : evaluatorFor(evaluator, this.agent);
  }

  private compile(version: string): Evaluator {
    try {
      const configuration = this.contents.get(version);
      if (configuration !== undefined) return compileEvaluator(configuration);
    } catch (error) {
      const why = (error as Error).message;
      throw new NotReplayable(`Its configuration ${version} cannot be read: ${why}`, { cause: error });
    }
    throw new NotReplayable(`Its configuration ${version} is not among the records.`);
  }

  /** Whether the configuration has a tool of these names. What cannot be read may have it: its decisions say so. */
  hasTool(version: string, names: readonly string[]): boolean {
    let keys = this.keys.get(version);
    if (keys === undefined) this.keys.set(version, (keys = this.keysOf(version)));
    return keys === null || names.some((name) => keys.has(name));
  }

  private keysOf(version: string): ReadonlySet<string> | null {
    try {
      return new Set(this.get(version).configuration.tools.map(({ key }) => key));
    } catch (error) {
      if (!(error instanceof NotReplayable)) throw error;
      return null;
    }
  }

  /**
   * Since when a version was in force that was so at that time, milliseconds since the epoch; -Infinity if the log
   * does not say.
   */
  since(version: string, at: number): number {
    return this.recorded.times.findLast((one) => one.version === version && one.since <= at)?.since ?? -Infinity;
  }

  /**
   * The version that a record names as in force; where an earlier Sluice wrote none, the last one on the log before
   * that time.
   */
  inForce(version: string, at: number): Evaluator {
    if (version !== '') return this.get(version);
    const last = this.recorded.times.findLast(({ since }) => since <= at);
    if (last === undefined) throw new NotReplayable('No configuration on the log is from before it.');
    return this.get(last.version);
  }
}
