import type { Tracer } from '@opentelemetry/api';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  TracerProvider,
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { SpanExporter, Sampler } from '@opentelemetry/sdk-trace';
import type { ModelSettings } from '@sluice/core';
import type { Environment } from '../environment.js';
import type { Log } from '../log.js';
import type { TracesSettings, SamplerSettings } from '../traces-environment.js';
import { GivenIds } from './given-ids.js';
import { OtlpTraces } from './otlp-traces.js';
import type { Traces } from './traces.js';
import { WatchedExporter } from './watched-exporter.js';

/** How long the end of a process waits for the last spans to be taken, in milliseconds. */
const lastSpansMs = 2_000;

/**
 * Spans in batches to an OTLP endpoint; what waits is bounded, and what does not fit is dropped. Loaded only where
 * one is configured.
 */
export async function openOtlp(
  settings: TracesSettings,
  { instance, kafka }: Pick<Environment, 'instance' | 'kafka'>,
  model: () => ModelSettings | null,
  log: Log,
): Promise<Traces> {
  const { serviceName, queue } = settings;
  const processor = new BatchSpanProcessor({
    exporter: new WatchedExporter(await exporterFor(settings), settings.url, log),
    ...queue,
  });
  const ids = new GivenIds();
  const sampler = samplerOf(settings.sampler);
  const named = detectResources({ detectors: [envDetector] });
  const tracers = new Map<string, Tracer>();
  const open = (group: string): Tracer => {
    const own = { 'service.name': serviceName ?? `sluice-${group}`, 'service.instance.id': instance };
    const resource = defaultResource().merge(resourceFromAttributes(own)).merge(named);
    return new TracerProvider({ resource, sampler, idGenerator: ids, spanProcessors: [processor] }).getTracer('sluice');
  };
  return new OtlpTraces({
    tracerOf: (group) => {
      let tracer = tracers.get(group);
      if (tracer === undefined) tracers.set(group, (tracer = open(group)));
      return tracer;
    },
    ids,
    system: kafka === null ? 'sqlite' : 'kafka',
    topicName: (topic) => `${kafka?.prefix ?? ''}${topic}`,
    model,
    close: () => inTime(processor.shutdown(), log),
  });
}

async function exporterFor({ protocol, url, headers }: TracesSettings): Promise<SpanExporter> {
  const options = { url, headers: { ...headers } };
  if (protocol === 'http/json') {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
    return new OTLPTraceExporter(options);
  }
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter(options);
}

async function inTime(ending: Promise<void>, log: Log): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), lastSpansMs)));
  const ended = await Promise.race([ending.catch(() => undefined), late]);
  clearTimeout(timer);
  if (ended === 'late') log.warn('the last spans were not taken in time and are lost');
}

/** Which traces are kept, as OTEL_TRACES_SAMPLER says. */
function samplerOf({ name, ratio }: SamplerSettings): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
