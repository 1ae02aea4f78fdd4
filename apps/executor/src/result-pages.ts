import { buffer } from 'node:stream/consumers';
import { pageOf, parseExactJson, ToolUnavailableError, ToolUserError } from '@sluice/core';
import type { ContentOwner, ContentStore, JsonValue, PageStart, StoredContent } from '@sluice/core';

/** Media types of results that have pages. */
const paged: readonly string[] = ['text/plain', 'application/json'];

/** Pages of the long results of one run, of at most so many bytes. */
export function resultPages(owner: ContentOwner, store: Pick<ContentStore, 'list' | 'open'>, mostBytes: number) {
  return {
    page: async (content: string, start: PageStart) => {
      const name = await within(() => named(owner, content, store));
      const bytes = await within(() => bytesOf(owner, name, store));
      const text = bytes.toString('utf8');
      const value: JsonValue = name.type === 'text/plain' ? text : parseExactJson(text);
      return pageOf(value, name, start, mostBytes);
    },
  };
}

/** What the run has under the beginning of a hash; another run’s content is never looked at. */
async function named(owner: ContentOwner, content: string, store: Pick<ContentStore, 'list'>): Promise<StoredContent> {
  const [found, ...others] = (await store.list(owner)).filter(
    ({ hash, type }) => hash.startsWith(content) && paged.includes(type),
  );
  if (found === undefined)
    throw new ToolUserError(
      `This run has no result of the name ${content}, or has it no longer. Make the call again that gave it.`,
    );
  if (others.length > 0) throw new ToolUserError(`${content} is the beginning of several names. Give more of it.`);
  return found;
}

async function bytesOf(
  owner: ContentOwner,
  { hash }: StoredContent,
  store: Pick<ContentStore, 'open'>,
): Promise<Buffer> {
  const found = await store.open(owner, hash);
  if (found === undefined) throw new ToolUserError('The result is no longer kept. Make the call again that gave it.');
  return buffer(found.bytes());
}

/** A store that is away is no fault of the call. */
async function within<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolUserError) throw error;
    throw new ToolUnavailableError('The content store cannot be read now.', { cause: error });
  }
}
