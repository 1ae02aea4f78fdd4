import type { ContentOwner, StepContent } from '@sluice/core';
import { contentExpiry } from '@sluice/host';
import { inTime } from './content-writing.js';
import type { ContentWorld } from './content-writing.js';

/**
 * Puts a result that no record has room for into the content store, and returns its name. Null where the store does not
 * take it: the call has happened all the same, and the log says why.
 */
export async function keepResult(
  owner: ContentOwner,
  type: string,
  text: string,
  world: ContentWorld,
): Promise<StepContent | null> {
  try {
    const name = await inTime(world.content.put(owner, type, Buffer.from(text), contentExpiry(world)));
    return { ...name, kind: 'value', name: null };
  } catch (error) {
    world.log.error(
      { request_id: owner.runId, error: (error as Error).message },
      'a result that is larger than a record could not be put into the content store; its step says so',
    );
    return null;
  }
}
