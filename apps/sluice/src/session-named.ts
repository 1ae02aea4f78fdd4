import { isRequest, requestIds, topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import type { Incoming, LogReader } from '@sluice/bus';
import { byBeginning } from './by-beginning.js';

/** A run has a record on at least one of these. */
const runs: readonly Topic[] = [topics.requests, topics.calls, topics.toolsets, topics.responses];

/**
 * The session with this name, or the only one whose name begins so; the name as it was written if there is neither,
 * since the session may be on another topic or still to come. Throws a sentence for a beginning that several sessions
 * have, or that is too short.
 */
export async function sessionNamed(
  reader: LogReader,
  written: string,
  { among = runs, signal }: { readonly among?: readonly Topic[]; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const found = new Set<string>();
  const options = {
    from: 'start',
    onUndecodable: () => undefined,
    ...(signal === undefined ? {} : { signal }),
  } as const;
  for await (const message of reader.read(among, options)) {
    const session = sessionOf(message);
    if (session === written) return written;
    if (written !== '' && session.startsWith(written)) found.add(session);
  }
  if (found.size === 0) return written;
  return byBeginning([...found], written, 'session', String) ?? written;
}

function sessionOf(message: Incoming): string {
  if (isRequest(message)) return requestIds(message, message.record).sessionId;
  return 'sessionId' in message.record ? (message.record.sessionId ?? '') : '';
}
