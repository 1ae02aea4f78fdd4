import { ExportResultCode } from '@opentelemetry/core';
import type { ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Log } from '../log.js';

/** Says once that spans are not accepted, and once that they are again: an absent exporter is no reason to stop. */
export class WatchedExporter implements SpanExporter {
  private lost = 0;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly url: string,
    private readonly log: Log,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, (result) => {
      this.tell(spans.length, result);
      done(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private tell(spans: number, { code, error }: ExportResult): void {
    if (code === ExportResultCode.SUCCESS) {
      if (this.lost > 0) this.log.info({ url: this.url, lost: this.lost }, 'spans are taken again');
      this.lost = 0;
      return;
    }
    if (this.lost === 0)
      this.log.warn(
        { url: this.url, error: error?.message },
        'spans are not taken by the trace collector; those that wait too long are lost, and work goes on without them',
      );
    this.lost += spans;
  }
}
