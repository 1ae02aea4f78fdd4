import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as the collector got it. */
export interface Received {
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Its `error.type`, null if it went well. */
  readonly error: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Ids of the spans it is linked to. */
  readonly links: readonly string[];
}

/** What OpenTelemetry numbers the kinds of spans as on the wire. */
export const kinds = { internal: 1, client: 3, producer: 4, consumer: 5 } as const;

export interface Collector {
  readonly endpoint: string;
  readonly spans: readonly Received[];
  /** The requests as they came. */
  readonly requests: readonly { readonly headers: NodeJS.Dict<string | string[]>; readonly body: Buffer }[];
  until(enough: (spans: readonly Received[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

interface WireAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface WireSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly WireAttribute[];
  readonly links?: readonly { readonly spanId: string }[];
  readonly status: { readonly code?: number };
}
interface Wire {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly WireAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

/** Takes spans over OTLP/HTTP as an OpenTelemetry collector does; those in JSON are read. */
export async function startCollector(): Promise<Collector> {
  const spans: Received[] = [];
  const requests: { headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      const json = request.headers['content-type'] === 'application/json';
      requests.push({ headers: request.headers, body });
      if (json && request.url === '/v1/traces') spans.push(...received(JSON.parse(body.toString()) as Wire));
      response.setHeader('content-type', json ? 'application/json' : 'application/x-protobuf');
      response.end(json ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    until: async (enough) => {
      for (const end = Date.now() + 90_000; !enough(spans);) {
        if (Date.now() > end) throw new Error(`Not within 90 s: ${spans.map(({ name }) => name).join(', ')}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function received({ resourceSpans }: Wire): Received[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(plain(resource.attributes)['service.name']);
    return scopeSpans.flatMap((scope) => scope.spans.map((span) => read(span, service)));
  });
}

function read(span: WireSpan, service: string): Received {
  const { name, kind, traceId, spanId, parentSpanId = '', links = [], status } = span;
  const attributes = plain(span.attributes);
  return {
    service,
    name,
    kind,
    traceId,
    spanId,
    parentSpanId,
    startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
    endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
    error: status.code === 2 ? String(attributes['error.type']) : null,
    attributes,
    links: links.map((link) => link.spanId),
  };
}

function plain(attributes: readonly WireAttribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [[kind, found] = ['', undefined]] = Object.entries(value);
      return [key, kind === 'intValue' ? Number(found) : found];
    }),
  );
}
