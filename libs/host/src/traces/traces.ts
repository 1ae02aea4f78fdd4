import type { Dead, HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { traceIdOf } from '../log-context.js';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work within a hop, named as the semantic conventions of OpenTelemetry name it. */
export interface SpanOf {
  readonly name: string;
  /** `client` for what another process does. */
  readonly kind: 'internal' | 'client';
  readonly attributes: Attributes;
}

/** What is known of the work when it is done; `error` is its `error.type`, absent if it went well. */
export interface SpanEnd {
  readonly attributes?: Attributes;
  readonly error?: string;
}

/** One record on its way through one service. */
export interface Hop {
  /** The service's group on the log. */
  readonly group: string;
  readonly message: Incoming;
  readonly context: HandlerContext;
}

/**
 * Where spans go (W3C Trace Context and OpenTelemetry's semantic conventions); docs/traces.md says what there is to
 * see.
 */
export interface Traces {
  /**
   * Handles a record; its outputs go on in the record's trace. `traceId` is given to the work as soon as it is known.
   */
  hop(hop: Hop, work: (traceId: string | undefined) => Promise<readonly Outgoing[]>): Promise<readonly Outgoing[]>;
  /** What goes out beside a dead letter goes on in the dead record's trace. */
  dead(group: string, dead: Dead, context: HandlerContext, outputs: readonly Outgoing[]): readonly Outgoing[];
  /** A piece of work within the hop that is under way; `of` is asked only where spans go somewhere. */
  span<T>(of: () => SpanOf, work: (end: (known: SpanEnd) => void) => Promise<T>): Promise<T>;
  /** What tells another system to go on in this trace; empty where spans go nowhere. */
  headers(): Readonly<Record<string, string>>;
  /** Sends what was not sent yet, for a short time at most. */
  close(): Promise<void>;
}

/** Nothing is made or loaded: the trace context of a record is copied to its outputs, and that is all. */
export const noTraces: Traces = {
  hop: ({ message: { headers } }, work) =>
    headers.traceparent === undefined
      ? work(undefined)
      : work(traceIdOf(headers)).then((outputs) => inTrace(headers, outputs)),
  dead: (_group, dead, _context, outputs) => inTrace(dead.headers, outputs),
  span: (_of, work) => work(() => undefined),
  headers: () => ({}),
  close: () => Promise.resolve(),
};

/** The W3C trace context of a record goes on with its outputs; no other header does. */
function inTrace(headers: Readonly<Record<string, string>>, messages: readonly Outgoing[]): readonly Outgoing[] {
  const { traceparent, tracestate } = headers;
  if (traceparent === undefined) return messages;
  const trace = { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
  return messages.map((message) => ({ ...message, headers: { ...trace, ...message.headers } }));
}
