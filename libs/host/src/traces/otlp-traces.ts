import { AsyncLocalStorage } from 'node:async_hooks';
import { createTraceState, defaultTextMapGetter, defaultTextMapSetter } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Span, SpanContext, Tracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { Fault } from '@sluice/core';
import type { ModelSettings } from '@sluice/core';
import { isRequestTopic, topics } from '@sluice/contracts';
import type { AgentResponse, Topic } from '@sluice/contracts';
import { isAgentRunId } from '@sluice/run';
import type { Dead, HandlerContext, Outgoing } from '@sluice/bus';
import { idsOf } from '../log-context.js';
import type { GivenIds } from './given-ids.js';
import { entryName, readRunSpan, writeRunSpan } from './run-span.js';
import type { RunSpan } from './run-span.js';
import { agentName, runAttributes } from './spans.js';
import type { Attributes, Hop, SpanEnd, SpanOf, Traces } from './traces.js';

const propagator = new W3CTraceContextPropagator();

/** The header of a request whose run’s span a service began before it passed the request on. */
const begunHeader = 'sluice-run-begun';

interface OtlpParts {
  /** One a service, since a process may run several. */
  tracerOf(group: string): Tracer;
  readonly ids: GivenIds;
  /** How the log is called, and how its topics are. */
  readonly system: 'kafka' | 'sqlite';
  topicName(topic: Topic): string;
  /** The model in force; null while there is no configuration. */
  model(): ModelSettings | null;
  close(): Promise<void>;
}

/** Where a record stands in its trace. */
interface Place {
  /** What its spans are under: the run's span if it has one, else the span that the record names. */
  readonly parent: SpanContext | undefined;
  /** The span that the record names, where that is not the parent. */
  readonly link: SpanContext | undefined;
  readonly run: RunSpan | null;
}

interface Active {
  readonly tracer: Tracer;
  readonly span: Span;
}

/**
 * Spans by hand: one a hop, one a record sent, one a model's turn and a tool's call, and one for the whole run at its
 * end.
 */
export class OtlpTraces implements Traces {
  private readonly active = new AsyncLocalStorage<Active>();

  constructor(private readonly parts: OtlpParts) {}

  async hop(
    { group, message, context }: Hop,
    work: (traceId: string | undefined) => Promise<readonly Outgoing[]>,
  ): Promise<readonly Outgoing[]> {
    const tracer = this.parts.tracerOf(group);
    const place = this.placeOf(message, tracer);
    const { request_id: requestId, session_id: sessionId } = idsOf(message);
    const attributes: Attributes = {
      ...this.messaging('process', message.topic),
      'messaging.consumer.group.name': group,
      'messaging.destination.partition.id': String(message.partition),
      ...(this.parts.system === 'kafka' ? { 'messaging.kafka.offset': message.offset } : {}),
      ...(requestId === undefined ? {} : { 'sluice.request.id': requestId }),
      ...(sessionId === undefined ? {} : { 'gen_ai.conversation.id': sessionId }),
      'sluice.attempt': context.attempt,
    };
    // Within another hop: a parked turn goes on, and what made it go on is another record.
    const within = this.active.getStore()?.span.spanContext();
    const links = [place.link, within].filter((link) => link !== undefined).map((link) => ({ context: link }));
    const name = `process ${this.parts.topicName(message.topic)}`;
    const span = tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes, links }, under(place.parent));
    return this.active.run({ tracer, span }, async () => {
      try {
        const outputs = await work(span.spanContext().traceId);
        return this.sent(outputs, span.spanContext(), place.run, tracer, context, message.timestamp);
      } catch (error) {
        failed(span, errorType(error));
        throw error;
      } finally {
        span.end();
      }
    });
  }

  dead(group: string, dead: Dead, context: HandlerContext, outputs: readonly Outgoing[]): readonly Outgoing[] {
    const tracer = this.parts.tracerOf(group);
    const { parent, run } = this.placeOf(dead, tracer);
    return parent === undefined ? outputs : this.sent(outputs, parent, run, tracer, context, dead.timestamp);
  }

  span<T>(of: () => SpanOf, work: (end: (known: SpanEnd) => void) => Promise<T>): Promise<T> {
    const now = this.active.getStore();
    if (now === undefined) return work(() => undefined);
    const { name, kind, attributes } = of();
    const options = { kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes };
    const span = now.tracer.startSpan(name, options, under(now.span.spanContext()));
    const end = ({ attributes: more = {}, error }: SpanEnd): void => {
      span.setAttributes(more);
      if (error !== undefined) failed(span, error);
    };
    return this.active.run({ tracer: now.tracer, span }, async () => {
      try {
        return await work(end);
      } catch (error) {
        failed(span, errorType(error));
        throw error;
      } finally {
        span.end();
      }
    });
  }

  headers(): Readonly<Record<string, string>> {
    const now = this.active.getStore();
    return now === undefined ? {} : headersFor(now.span.spanContext());
  }

  close(): Promise<void> {
    return this.parts.close();
  }

  private placeOf(record: { readonly topic: Topic; readonly headers: Dead['headers'] }, tracer: Tracer): Place {
    const extracted = propagator.extract(ROOT_CONTEXT, record.headers, defaultTextMapGetter);
    const named = trace.getSpanContext(extracted);
    const isPassedOn = record.headers[begunHeader] !== undefined;
    if (isRequestTopic(record.topic) && !isPassedOn) return begun(named, tracer);
    const run = readRunSpan(named?.traceState?.get(entryName));
    if (named === undefined || run === null) return { parent: named, link: undefined, run: null };
    return { parent: { ...named, spanId: run.spanId }, link: named, run };
  }

  /** Each output is a span of its own, which ends when it is on the log: what is never committed was never sent. */
  private sent(
    outputs: readonly Outgoing[],
    parent: SpanContext,
    run: RunSpan | null,
    tracer: Tracer,
    context: HandlerContext,
    takenAt: number,
  ): readonly Outgoing[] {
    return outputs.map((output) => {
      // A request that is passed on is one of the run that began with it.
      const isPassedOn = output.topic === topics.calls;
      // One that is in another trace stays there.
      if (!isPassedOn && output.headers?.['traceparent'] !== undefined) return output;
      const options = { kind: SpanKind.PRODUCER, attributes: this.messaging('send', output.topic) };
      const span = tracer.startSpan(`send ${this.parts.topicName(output.topic)}`, options, under(parent));
      context.afterCommit(() => {
        span.end();
        // An agent’s run is a part of the run that called it, whose span that is.
        if (output.topic === topics.responses && run !== null && !isAgentRunId(output.record.requestId))
          this.endRun(output.record, span.spanContext(), run, tracer, takenAt);
      });
      const own = headersFor(span.spanContext());
      if (isPassedOn) return { ...output, headers: { ...output.headers, ...own, [begunHeader]: '1' } };
      return { ...output, headers: { ...own, ...output.headers } };
    });
  }

  /** The whole run as one span, under the ids that all its records had as their parent. */
  private endRun(
    response: AgentResponse,
    { traceId, traceFlags, traceState }: SpanContext,
    { spanId, parentId }: RunSpan,
    tracer: Tracer,
    takenAt: number,
  ): void {
    const parent = parentId === null ? undefined : { traceId, traceFlags, spanId: parentId, isRemote: true };
    const attributes = runAttributes(response, this.parts.model());
    const span = this.parts.ids.with({ traceId, spanId }, () =>
      tracer.startSpan(
        `invoke_agent ${agentName}`,
        { kind: SpanKind.INTERNAL, attributes, startTime: response.run?.startedAt ?? takenAt },
        under(parent && (traceState === undefined ? parent : { ...parent, traceState })),
      ),
    );
    if (response.error !== null) failed(span, response.error.code);
    span.end(response.endedAt);
  }

  private messaging(operation: 'process' | 'send', topic: Topic): Attributes {
    return {
      'messaging.system': this.parts.system,
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.destination.name': this.parts.topicName(topic),
    };
  }
}

/**
 * A request begins a run: its span gets its ids, and whether it is sampled, now. It is never ended: endRun makes it
 * again.
 */
function begun(asking: SpanContext | undefined, tracer: Tracer): Place {
  const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agentName };
  const begin = tracer.startSpan(`invoke_agent ${agentName}`, { attributes }, under(asking)).spanContext();
  const run = { spanId: begin.spanId, parentId: asking?.spanId ?? null };
  const traceState = (asking?.traceState ?? createTraceState()).set(entryName, writeRunSpan(run));
  return { parent: { ...begin, traceState, isRemote: true }, link: asking, run };
}

function under(parent: SpanContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

function headersFor(span: SpanContext): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagator.inject(trace.setSpanContext(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
  return headers;
}

function failed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The code or the kind of an error, never its text: that may hold a secret. */
function errorType(error: unknown): string {
  if (error instanceof Fault) return error.code;
  return error instanceof Error ? error.name : '_OTHER';
}
