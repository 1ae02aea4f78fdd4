/** Lines for operators, as pino writes them. */
export interface RunLog {
  info(about: object, message?: string): void;
  error(about: object, message: string): void;
}

/** The metrics that are counted here, as prom-client has them. */
export interface RunMetrics {
  readonly runsEnded: Counter<'outcome'>;
  readonly agentRunsEnded: Counter<'agent' | 'kind'>;
  readonly runDuration: Histogram<'kind'>;
  readonly workflowDuration: Histogram<'state'>;
  readonly deadLetters: Counter<'topic' | 'code'>;
  readonly redriven: Counter<'topic'>;
  readonly escalationAttempts: { inc(): void };
  readonly invalidTransitions: { inc(): void };
  readonly configuration: Gauge<'version'>;
  readonly configurationRefused: Counter<'source'>;
  readonly configurationPartsMissing: { set(value: number): void };
  readonly groupAvailability: Gauge<'group'>;
  readonly stateAvailability: Gauge<'state'>;
}

type Labels<L extends string> = Record<L, string>;

interface Counter<L extends string> {
  inc(labels: Labels<L>, by?: number): void;
}

interface Gauge<L extends string> {
  set(labels: Labels<L>, value: number): void;
  reset(): void;
}

interface Histogram<L extends string> {
  observe(labels: Labels<L>, value: number): void;
}

/** Names that no configuration knows count under this one, so that a caller cannot make series. */
export const otherLabel = 'other';

/** The label of a name: itself if the configuration knows it, else `other`. */
export function boundedLabel(name: string, known: ReadonlySet<string>): string {
  return known.has(name) ? name : otherLabel;
}
