import type { Kinds } from './kinds.js';

/** What this process does with the content store. */
export function contentMetrics({ counter }: Kinds) {
  return {
    contentOperations: counter(
      'sluice_content_operations_total',
      'Uses of the content store by operation (put, open, list, remove, sweep) and outcome: ok; absent, where there was nothing; too_large; or failed.',
      'operation',
      'outcome',
    ),
    contentBytes: counter(
      'sluice_content_bytes_total',
      'Bytes of content by direction: written to the store, or read from it.',
      'direction',
    ),
    contentRemoved: counter(
      'sluice_content_removed_total',
      'Pieces of content that a sweep removed, by reason: expired, or unnamed, since no record came to name it.',
      'reason',
    ),
  };
}
