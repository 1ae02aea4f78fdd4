/**
 * The span of a whole run. No process lives as long as the run does, so the service that takes the request begins the
 * span, the one that ends the run ends it, and in between it travels with the records: as the entry `sluice` of the
 * W3C tracestate.
 */
export interface RunSpan {
  readonly spanId: string;
  /** The span of the caller. */
  readonly parentId: string | null;
}

export const entryName = 'sluice';

export function writeRunSpan({ spanId, parentId }: RunSpan): string {
  return parentId === null ? spanId : `${spanId}-${parentId}`;
}

/** Null if it is not one of ours. */
export function readRunSpan(entry: string | undefined): RunSpan | null {
  const found = /^([\da-f]{16})(?:-([\da-f]{16}))?$/.exec(entry ?? '');
  return found?.[1] === undefined ? null : { spanId: found[1], parentId: found[2] ?? null };
}
