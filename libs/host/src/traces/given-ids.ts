import { RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { IdGenerator } from '@opentelemetry/sdk-trace';

interface Ids {
  readonly traceId: string;
  readonly spanId: string;
}

/** Random ids, but for a span that got its ids earlier, elsewhere. */
export class GivenIds implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private given: Ids | null = null;

  /** The span that `make` makes has these ids. */
  with<T>(ids: Ids, make: () => T): T {
    this.given = ids;
    try {
      return make();
    } finally {
      this.given = null;
    }
  }

  generateTraceId = (): string => this.given?.traceId ?? this.random.generateTraceId();

  generateSpanId = (): string => this.given?.spanId ?? this.random.generateSpanId();
}
