import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Incoming } from '@sluice/bus';
import { Busy } from '@sluice/host';
import { CallGone, CallTooLarge, KeyReused, KeyInUse } from './calls.service.js';

/** What each record of a run says to who waits for it. */
const progressTexts: Readonly<Record<string, string>> = {
  'agent.toolsets': 'The tools of this call are decided.',
  'agent.tool-calls': 'The call is with the executor.',
  'agent.progress': 'The tool works.',
  'agent.approvals': 'The call’s approval went on.',
  'agent.steps': 'The call has ended.',
};

/** What the record says; undefined where it says nothing. */
export function progressText(message: Incoming): string | undefined {
  if (message.topic === 'agent.progress' && message.record.kind === 'model_retry')
    return `The model is asked again: ${message.record.text}.`;
  return progressTexts[message.topic];
}

export const cutTexts = {
  cancelled: 'The client cancelled the call; what it had begun is recorded.',
  stopping: 'The server is stopping. Call again with the same key to get the result of this call.',
  slow: 'The call’s records came faster than they were read. Call again with the same key to get its result.',
} as const;

/** The caller’s mistakes as the protocol’s errors, and what is too much now as its own. */
export async function attempt<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof KeyReused)
      throw invalid('The key of this call was used for another tool or other arguments before. Choose another key.');
    if (error instanceof KeyInUse) throw invalid(keyInUse);
    if (error instanceof CallGone)
      throw invalid(
        'The call of this key was made, and is no longer on the log. Choose another key to make it once more.',
      );
    if (error instanceof CallTooLarge) throw invalid('The arguments are larger than a call may be.');
    if (error instanceof Busy) throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
    throw error;
  }
}

export const keyInUse = 'The key of this call names another run. Choose another key.';

export function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
