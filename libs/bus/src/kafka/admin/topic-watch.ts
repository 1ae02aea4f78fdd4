import type { Topic } from '@sluice/contracts';
import { Fault } from '@sluice/core';
import type { Admin } from 'kafkajs';
import type { BusLog } from '../../port.js';
import { within } from '../kafkajs/failure.js';
import type { Names } from '../names.js';
import type { TopicOptions } from '../options.js';
import type { TopicLimits } from '../produce/topic-limits.js';
import { describeTopics } from './describe-topics.js';
import { findingsOf } from './findings.js';
import type { TopicFinding, TopicThere } from './findings.js';

/** How often the settings are looked at, and how soon again while something is wrong, milliseconds. */
const lookMs = 60_000;
const againMs = 3_000;
const answerMs = 10_000;

interface TopicWatchOptions {
  readonly admin: Admin;
  readonly names: Names;
  readonly topics: TopicOptions;
  readonly limits: TopicLimits;
  readonly log: BusLog;
}

/**
 * Holds the topics’ settings against what Sluice needs, at the beginning and from then on: an operator may change
 * them at any time.
 */
export class TopicWatch {
  private _findings: readonly TopicFinding[] = [];
  private _there: ReadonlyMap<Topic, TopicThere> = new Map();
  private looking: Promise<void> | undefined;
  private lookedAt = -Infinity;
  private _unknown: string | undefined;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly options: TopicWatchOptions) {
    this.timer = setInterval(() => void this.look(), lookMs);
    this.timer.unref();
  }

  /** What was not as it should be when it was last looked at. */
  get findings(): readonly TopicFinding[] {
    return this._findings;
  }

  /** The topics as they were then. */
  get there(): ReadonlyMap<Topic, TopicThere> {
    return this._there;
  }

  /** Why the settings could not be read, which a user without that right meets; undefined if they could. */
  get unknown(): string | undefined {
    return this._unknown;
  }

  /** Rejects with a sentence where rights or data are in danger. */
  async check(): Promise<void> {
    if (this.dangers.length > 0 && performance.now() - this.lookedAt > againMs) await this.look();
    const [danger] = this.dangers;
    if (danger !== undefined) throw new Fault('storage', danger.sentence, true);
  }

  /**
   * Reads the settings now, or waits for a reading under way. It never rejects: the check of the broker says when
   * that is away.
   */
  look(): Promise<void> {
    return (this.looking ??= this._look().finally(() => (this.looking = undefined)));
  }

  close(): void {
    clearInterval(this.timer);
  }

  private get dangers(): readonly TopicFinding[] {
    return this._findings.filter(({ endangers }) => endangers);
  }

  private async _look(): Promise<void> {
    const { names, topics, limits } = this.options;
    try {
      const late = (): Error => new Error(`The broker has not answered for ${answerMs} ms.`);
      const there = await within(answerMs, late, this.describe());
      this._there = there;
      limits.areSet(limitsOf(there));
      this.report(findingsOf(there, names, topics));
      this._unknown = undefined;
    } catch (error) {
      this._unknown = error instanceof Error ? error.message : String(error);
    }
    this.lookedAt = performance.now();
  }

  private async describe(): Promise<ReadonlyMap<Topic, TopicThere>> {
    const { admin, names } = this.options;
    const described = await describeTopics(admin, names);
    const { topics } = await admin.fetchTopicMetadata({
      topics: [...described.keys()].map((topic) => names.topic(topic)),
    });
    const counts = new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
    return new Map(
      [...described].map(([topic, entries]) => {
        const settings = new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
        return [topic, { settings, partitions: counts.get(names.topic(topic)) ?? 0 }];
      }),
    );
  }

  /** Logs each finding once, when it is new. */
  private report(findings: readonly TopicFinding[]): void {
    const before = new Set(this._findings.map(({ sentence }) => sentence));
    this._findings = findings;
    for (const { sentence, endangers } of findings)
      if (!before.has(sentence)) this.options.log(endangers ? 'error' : 'warn', sentence, {});
  }
}

function limitsOf(there: ReadonlyMap<Topic, TopicThere>): ReadonlyMap<Topic, number> {
  return new Map(
    [...there].flatMap(([topic, { settings }]) => {
      const bytes = Number(settings.get('max.message.bytes'));
      return Number.isFinite(bytes) && bytes > 0 ? [[topic, bytes] as const] : [];
    }),
  );
}
