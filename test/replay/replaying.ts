import { createAuthorizer } from '@sluice/authorization';
import type { Incoming, LogReader, ReadOptions } from '@sluice/bus';
import type { Topic } from '@sluice/contracts';
import { createVerifier, unverified } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { everything, replay } from '@sluice/replay';
import type { DecisionSelection, Replayed } from '@sluice/replay';

export const authorizerOf = ({ authorization }: { authorization: Parameters<typeof createAuthorizer>[0] }) =>
  createAuthorizer(authorization);

export function undecodable(place: object, reason: string): never {
  throw new Error(`${JSON.stringify(place)}: ${reason}`);
}

/** Every decision of a log, decided once more. */
export async function replayed(
  reader: LogReader,
  keys: KeySet | null,
  selection: Partial<DecisionSelection> = {},
): Promise<Replayed[]> {
  const found: Replayed[] = [];
  const options = {
    selection: { ...everything, ...selection },
    verifier: keys === null ? unverified : createVerifier(keys),
    authorizerOf,
    signal: new AbortController().signal,
    onUndecodable: undecodable,
  };
  for await (const one of replay(reader, options)) found.push(one);
  return found;
}

/** The same log with some records changed, or gone where the change gives null. */
export function changed(reader: LogReader, change: (message: Incoming) => Incoming | null): LogReader {
  return {
    read: <T extends Topic>(topics: readonly T[], options: ReadOptions) =>
      (async function* () {
        for await (const message of reader.read(topics, options)) {
          const instead = change(message as unknown as Incoming);
          // What was changed has other bytes as well.
          if (instead !== null) yield (instead === message ? message : { ...instead, avro: null }) as Incoming<T>;
        }
      })(),
  };
}
