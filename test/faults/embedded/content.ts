import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { openFolderContent } from '@sluice/content';
import type { StepContent } from '@sluice/core';
import { recordsOf, stepsOf, text } from '../check/observed.ts';
import type { Found, Step } from '../check/observed.ts';
import { pictureOf } from '../parts/effects.ts';

const contentModule = join(import.meta.dirname, '..', '..', '..', 'libs', 'content', 'src', 'index.ts');
/** The tenant of requests that name none. */
const tenantId = 'local';

interface Named {
  readonly content?: readonly StepContent[];
}

interface Used {
  readonly openFolderContent: typeof openFolderContent;
}

/** What the steps on the log name that is not in the store of this folder, or is not what the tool gave. */
export async function contentOnDisk(
  folder: string,
  found: readonly Found[],
): Promise<{ readonly named: number; readonly said: readonly string[] }> {
  const { openFolderContent: open } = (await import(pathToFileURL(contentModule).href)) as Used;
  const store = await open(folder, { clock: { now: () => Date.now() }, keys: [], maxBytes: 10_000_000 });
  const said: string[] = [];
  let named = 0;
  try {
    for (const { record } of recordsOf(found, 'agent.steps')) {
      const runId = text(record, 'request_id');
      for (const { content = [], iteration } of stepsOf(record, 'steps') as readonly (Step & Named)[])
        for (const { hash, kind, size } of content) {
          named++;
          const stored = await store.open({ tenantId, runId }, hash);
          const pieces: Uint8Array[] = [];
          if (stored !== undefined) for await (const piece of stored.bytes()) pieces.push(piece);
          const bytes = Buffer.concat(pieces);
          if (bytes.length !== size) said.push(`A step of ${runId} names content ${hash}, which is not in the store.`);
          else if (kind === 'image' && !bytes.equals(pictureOf(runId, iteration - 1)))
            said.push(`Content ${hash} of ${runId} is not the picture that its tool gave.`);
        }
    }
  } finally {
    await store.close();
  }
  return { named, said };
}
