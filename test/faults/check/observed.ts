/** A record as it was found on the log, topic without prefix. `record` is null if its bytes say nothing. */
export interface Found {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly record: Readonly<Record<string, unknown>> | null;
}

/** How far a group has come in a partition: all before `offset`, and what the metadata says of the rest. */
export interface Committed {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly metadata: string;
}

export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A run that was asked for. */
export interface Asked {
  readonly runId: string;
  readonly sessionId: string;
  /** Whether its request was put on the log more than once. */
  readonly repeated: boolean;
  /** Whether it is one call without a model. */
  readonly isCall: boolean;
  /** Where its request is put: that of a call to the executor at once, or to the filter, which passes it on. */
  readonly topic: 'agent.requests' | 'agent.calls';
}

/** A record that was put on the log to be refused. */
export interface Spoiled extends Place {
  /** The group that must put it aside, as what; null where it reads it and nothing follows. */
  readonly group: string;
  readonly code: string | null;
  /** The run that ends with an error because of it; null if it is nobody's request. */
  readonly runId: string | null;
}

/** What a webhook was about. */
export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  /** The run, or the place of the dead letter. */
  readonly subject: string;
  readonly isSigned: boolean;
}

/** All that was seen from outside, once nothing moves any more. */
export interface Observed {
  readonly asked: readonly Asked[];
  readonly spoiled: readonly Spoiled[];
  readonly found: readonly Found[];
  readonly committed: readonly Committed[];
  /** Where each partition ends. */
  readonly ends: readonly Place[];
  /** How often each effect was done, by `run/turn`. */
  readonly effects: ReadonlyMap<string, number>;
  /** As often as they came. */
  readonly webhooks: readonly WebhookEvent[];
}

/** Who reads what on the loop. */
export const readers = [
  { group: 'filter', topic: 'agent.requests' },
  { group: 'filter', topic: 'agent.steps' },
  { group: 'agent', topic: 'agent.toolsets' },
  { group: 'executor', topic: 'agent.tool-calls' },
  { group: 'executor', topic: 'agent.calls' },
] as const;

export const at = ({ topic, partition, offset }: Place): string => `${topic}-${partition}@${offset}`;

/** The members of a record that are read here; a record is what it says, so each is looked at before it is believed. */
export function text(record: Readonly<Record<string, unknown>>, name: string): string {
  const value = record[name];
  return typeof value === 'string' ? value : '';
}

export function number(record: Readonly<Record<string, unknown>>, name: string): number {
  const value = record[name];
  return typeof value === 'number' ? value : Number.NaN;
}

export interface Step {
  readonly iteration: number;
  readonly action: string;
  readonly arguments: string;
  readonly outcome: string;
  readonly reason: string | null;
}

export function stepsOf(record: Readonly<Record<string, unknown>>, name: string): readonly Step[] {
  const value = record[name];
  return Array.isArray(value) ? (value as Step[]) : [];
}

/** The readable records of a topic. */
export function recordsOf<T extends Found>(
  found: readonly T[],
  topic: string,
): (T & { record: Record<string, unknown> })[] {
  return found.filter(
    (one): one is T & { record: Record<string, unknown> } => one.topic === topic && one.record !== null,
  );
}

/** Whether the record is the one of a call without a model: its run has ended with it. */
export function isCall({ record }: Pick<Found, 'record'>): boolean {
  return (record?.['call'] ?? null) !== null;
}

/** Whether the record is a turn that the filter took back since its run was overdue: it is no step of the turn. */
export function isTakenBack({ topic, record }: Pick<Found, 'topic' | 'record'>): boolean {
  return topic === 'agent.steps' && record?.['in_force_version'] === '' && stepsOf(record, 'steps').length === 0;
}
