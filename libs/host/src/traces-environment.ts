import type { Variables } from './variables.js';

const protocols = ['http/protobuf', 'http/json'] as const;
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export interface SamplerSettings {
  readonly name: (typeof samplers)[number];
  /** From 0 to 1; for the samplers that keep a share. */
  readonly ratio: number;
}

/** Where spans go, by the variables that OpenTelemetry has for it. */
export interface TracesSettings {
  /** Of the traces, with its path. */
  readonly url: string;
  readonly protocol: (typeof protocols)[number];
  /** What the collector wants to see, such as its key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: named by the service, `sluice-filter` and so on. */
  readonly serviceName: string | null;
  readonly sampler: SamplerSettings;
  /** How many spans wait, how many go at once, and how often, in milliseconds. */
  readonly queue: {
    readonly maxQueueSize: number;
    readonly maxExportBatchSize: number;
    readonly scheduledDelayMillis: number;
    readonly exportTimeoutMillis: number;
  };
}

/** Null, unless an endpoint is named. Throws a sentence for what is wrong. */
export function readTraces(variables: Variables): TracesSettings | null {
  const off = variables.oneOf('OTEL_SDK_DISABLED', ['true', 'false'], 'false') === 'true';
  const wanted = variables.oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'otlp';
  const url = endpoint(variables);
  if (off || !wanted || url === null) return null;
  const maxQueueSize = variables.integer('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1, 1_000_000);
  return {
    url,
    protocol: protocol(variables),
    headers: {
      ...headers('OTEL_EXPORTER_OTLP_HEADERS', variables),
      ...headers('OTEL_EXPORTER_OTLP_TRACES_HEADERS', variables),
    },
    serviceName: variables.text('OTEL_SERVICE_NAME') ?? null,
    sampler: sampler(variables),
    queue: {
      maxQueueSize,
      maxExportBatchSize: Math.min(
        maxQueueSize,
        variables.integer('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1, 1_000_000),
      ),
      scheduledDelayMillis: variables.integer('OTEL_BSP_SCHEDULE_DELAY', 5_000, 1, 3_600_000),
      exportTimeoutMillis: variables.integer('OTEL_BSP_EXPORT_TIMEOUT', 30_000, 1, 3_600_000),
    },
  };
}

function endpoint(variables: Variables): string | null {
  const name = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].find(
    (one) => variables.text(one) !== undefined,
  );
  if (name === undefined) return null;
  const text = variables.text(name) as string;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new Error(`${name} is "${text}"; it must be an address such as http://localhost:4318.`);
  }
  return name.includes('TRACES') ? text : `${text.replace(/\/+$/, '')}/v1/traces`;
}

function protocol(variables: Variables): TracesSettings['protocol'] {
  const fallback = variables.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', protocols, 'http/protobuf');
  return variables.oneOf('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', protocols, fallback);
}

function sampler(variables: Variables): SamplerSettings {
  const text = variables.text('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new Error(`OTEL_TRACES_SAMPLER_ARG is "${text}"; it must be a number from 0 to 1.`);
  }
  return { name: variables.oneOf('OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on'), ratio };
}

/** `name=value`, several with commas, values percent-encoded; the text stays unsaid, since it holds keys. */
function headers(name: string, variables: Variables): Readonly<Record<string, string>> {
  const pairs = (variables.secret(name) ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Error(`${name} must be name=value, several with commas between them.`);
      return [pair.slice(0, at).trim(), decoded(name, pair.slice(at + 1).trim())];
    }),
  );
}

function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new Error(`${name} has a value with a % that begins no %XX; write %25 for it.`);
  }
}
