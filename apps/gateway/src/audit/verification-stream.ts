import { setTimeout as delay } from 'node:timers/promises';
import type { AssistantStreamChunk } from 'assistant-stream';
import { auditReportJson } from '@sluice/audit';
import type { AuditReport } from '@sluice/audit';
import type { ReadingProgress } from './whole-log.js';

/** So often a reader learns how far it is, milliseconds. */
const progressMs = 1_000;

type Data = Extract<AssistantStreamChunk, { type: 'data' }>['data'];

/**
 * A verification as data of the assistant transport format: `progress` each second, then each `finding` in words, and
 * the `end` with all but these; `failed` where there is no end.
 */
export async function* verificationEvents(
  work: Promise<AuditReport>,
  progress: () => ReadingProgress,
  sentenceFor: (error: unknown) => string,
): AsyncGenerator<AssistantStreamChunk, void, undefined> {
  const done = work.then(
    (report) => ({ report }),
    (error: unknown) => ({ error }),
  );
  for (;;) {
    const waited = new AbortController();
    const pause = delay(progressMs, null, { signal: waited.signal, ref: false }).catch(() => null);
    const ended = await Promise.race([done, pause]);
    waited.abort();
    yield chunk([{ type: 'progress', ...progress() }]);
    if (ended === null) continue;
    if ('error' in ended) return yield chunk([{ type: 'failed', message: sentenceFor(ended.error) }]);
    const { findings, ...rest } = auditReportJson(ended.report);
    for (const finding of findings) yield chunk([{ type: 'finding', ...finding }]);
    return yield chunk([{ type: 'end', ...rest }]);
  }
}

function chunk(data: readonly object[]): AssistantStreamChunk {
  return { type: 'data', path: [], data: data as unknown as Data };
}
