import type { RecordOf } from '@sluice/contracts';
import type { Principal } from '@sluice/core';
import type { Runtime } from '@sluice/host';
import type { CredentialTopic } from '@sluice/contracts';
import { isOpen } from './local-access.js';

/** What a request came with, by the names of headers. */
export interface SentHeaders {
  get(name: string): string | undefined;
}

/** The trace that the run belongs to (docs/upstream.md). */
const traceHeaders = ['traceparent', 'tracestate'] as const;

/**
 * The headers of the record that a request becomes: the trace, and where an identity is configured the credential of
 * who asks. Without one the header may hold the local secret, which does not belong on the log.
 */
export async function recordHeaders<T extends CredentialTopic>(
  request: SentHeaders,
  written: { readonly topic: T; readonly record: RecordOf<T> },
  caller: Principal,
  runtime: Pick<Runtime, 'configurations' | 'credentials'>,
): Promise<Readonly<Record<string, string>>> {
  const trace = traceHeaders.flatMap((name) => {
    const value = request.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const credential = isOpen(runtime) ? undefined : request.get('authorization');
  return { ...(await runtime.credentials.headersFor(written, credential, caller)), ...Object.fromEntries(trace) };
}
