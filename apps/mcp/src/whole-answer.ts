import { buffer } from 'node:stream/consumers';
import { Fault } from '@sluice/core';
import type { ContentOwner, ContentStore, JsonObject } from '@sluice/core';
import type { AgentStep } from '@sluice/contracts';
import { joinAnswer } from '@sluice/mcp';

/** What is known of the answer of an MCP server beside the step. */
type WholeAnswer =
  | { readonly kind: 'here'; readonly answer: JsonObject }
  /** The value, of which the step has the first page. */
  | { readonly kind: 'value'; readonly text: string }
  /** The step says everything. */
  | { readonly kind: 'none' }
  /** It was kept, and is no longer there, or cannot be read now. */
  | { readonly kind: 'gone'; readonly why: string };

/** The answer of which a step names the content. */
export async function wholeAnswer(
  { content, outcome }: AgentStep,
  owner: ContentOwner,
  store: Pick<ContentStore, 'open'>,
): Promise<WholeAnswer> {
  const whole = content.find(({ kind }) => kind === 'result') ?? content.find(({ kind }) => kind === 'value');
  if (whole === undefined || outcome !== 'ok') return { kind: 'none' };
  const read = async (hash: string): Promise<Buffer> => {
    const found = await store.open(owner, hash);
    if (found === undefined) throw new Gone();
    return buffer(found.bytes());
  };
  try {
    if (whole.kind === 'value') return { kind: 'value', text: (await read(whole.hash)).toString('utf8') };
    const answer = await joinAnswer(await read(whole.hash), read);
    if (answer !== null) return { kind: 'here', answer };
    return { kind: 'gone', why: 'It is of a version of Sluice that this one does not know.' };
  } catch (error) {
    if (error instanceof Gone) return { kind: 'gone', why: 'It is no longer kept.' };
    // Of a fault the client reads no names of hosts and folders.
    if (error instanceof Fault) return { kind: 'gone', why: `The content store says ${error.code}.` };
    throw error;
  }
}

class Gone extends Error {}
