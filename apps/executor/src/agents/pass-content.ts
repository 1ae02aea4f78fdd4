import type { AgentStepResult, ToolCall } from '@sluice/contracts';
import { contentExpiry } from '@sluice/host';
import { inTime } from '../content-writing.js';
import type { ContentWorld } from '../content-writing.js';

/**
 * Writes the images and files of a question for the agent’s run too: content is read through the run that has it, and
 * by no other. What is not there, or cannot be written, the agent’s model is shown a line for.
 */
export async function passContent(
  { requestId }: Pick<ToolCall, 'requestId'>,
  { next, run: { principal } }: Pick<AgentStepResult, 'next' | 'run'>,
  world: ContentWorld,
): Promise<void> {
  const { content: store, log } = world;
  if (principal === null || next.requestId === null) return;
  const { tenantId } = principal;
  const to = { tenantId, runId: next.requestId };
  const pass = async (): Promise<void> => {
    for (const { hash } of next.content ?? []) {
      const found = await store.open({ tenantId, runId: requestId }, hash);
      if (found !== undefined) await store.put(to, found.type, found.bytes(), contentExpiry(world));
    }
  };
  try {
    await inTime(pass());
  } catch (error) {
    log.error(
      { request_id: requestId, agent_request_id: next.requestId, error: (error as Error).message },
      'images and files of a question could not be passed on to an agent',
    );
  }
}
