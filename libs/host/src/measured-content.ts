import { ContentTooLargeError } from '@sluice/core';
import type { ContentStore, OpenContent } from '@sluice/core';
import type { Metrics } from './metrics.js';

type Operation = 'put' | 'open' | 'list' | 'remove' | 'sweep';

/** The store, whose uses are counted. */
export function measuredContent(
  store: ContentStore,
  metrics: Pick<Metrics, 'contentOperations' | 'contentBytes' | 'contentRemoved'>,
): ContentStore {
  const counted = async <T>(
    operation: Operation,
    work: () => Promise<T>,
    isThere: (result: T) => boolean,
  ): Promise<T> => {
    try {
      const result = await work();
      metrics.contentOperations.inc({ operation, outcome: isThere(result) ? 'ok' : 'absent' });
      return result;
    } catch (error) {
      const outcome = error instanceof ContentTooLargeError ? 'too_large' : 'failed';
      metrics.contentOperations.inc({ operation, outcome });
      throw error;
    }
  };
  const always = (): boolean => true;
  return {
    put: async (...given) => {
      const name = await counted('put', () => store.put(...given), always);
      metrics.contentBytes.inc({ direction: 'written' }, name.size);
      return name;
    },
    open: async (...given) => {
      const found = await counted(
        'open',
        () => store.open(...given),
        (one) => one !== undefined,
      );
      return found === undefined ? undefined : reading(found, metrics);
    },
    list: (owner) => counted('list', () => store.list(owner), always),
    remove: (owner) => counted('remove', () => store.remove(owner), always),
    sweep: async (...given) => {
      const swept = await counted('sweep', () => store.sweep(...given), always);
      metrics.contentRemoved.inc({ reason: 'expired' }, swept.expired);
      metrics.contentRemoved.inc({ reason: 'unnamed' }, swept.unnamed);
      return swept;
    },
    check: () => store.check(),
    close: () => store.close(),
  };
}

function reading(content: OpenContent, { contentBytes }: Pick<Metrics, 'contentBytes'>): OpenContent {
  return {
    ...content,
    bytes: async function* () {
      for await (const bytes of content.bytes()) {
        contentBytes.inc({ direction: 'read' }, bytes.length);
        yield bytes;
      }
    },
  };
}
