import type { Topic } from '@sluice/contracts';
import type { Incoming, LogReader, ReadOptions } from './port.js';

/**
 * The record that stands at this place of the topic; undefined if none does, or no longer. Throws what cannot be
 * decoded, unless it is skipped.
 */
export async function recordAt<T extends Topic>(
  bus: LogReader,
  topic: T,
  { partition, offset }: { readonly partition: number; readonly offset: number },
  options: Pick<ReadOptions, 'onUndecodable'> = {},
): Promise<Incoming<T> | undefined> {
  for await (const message of bus.read([topic], { ...options, from: { partition, offset } }))
    return message.offset === offset ? message : undefined;
  return undefined;
}

/** For places whose record may be anybody's: what cannot be decoded is as good as gone. */
export const skipUndecodable = { onUndecodable: () => undefined } as const;
