import type { JsonValue } from '../json.js';
import { finish, fitted } from './finish.js';
import { failure } from './refusals.js';
import type { Reconciliation, ToolInvocation, ToolPipeline } from './pipeline.js';
import { CallLimit } from './call-limit.js';
import { within } from './within.js';
import type { BoundTool, ReconcileAnswer, ToolCapabilities, ToolExecResult } from './types.js';

/** What of the pipeline asking needs. */
type Asked = Pick<
  ToolPipeline,
  'capabilities' | 'hashResult' | 'conceal' | 'onFault' | 'onReconciled' | 'after' | 'limits' | 'keepResult'
>;

/** However short a call may be, its tool may have to start a process first. Milliseconds. */
const leastMs = 10_000;

/**
 * Asks the tool whether a call took effect. It has the call’s time for that, or 10 s, and capabilities of its own; a
 * tool that throws or does not answer in time leaves it unknown. What it gives as the result goes through what any
 * result does.
 */
export async function reconcile(
  tool: BoundTool,
  invocation: ToolInvocation,
  args: JsonValue,
  pipeline: Asked,
): Promise<Reconciliation> {
  if (tool.reconcile === undefined) return 'unknown';
  const answer = await ask(tool, invocation, args, pipeline);
  pipeline.onReconciled(invocation, answer.outcome);
  switch (answer.outcome) {
    case 'happened': {
      const result = pipeline.conceal(tool, finish(tool, invocation, answer.result, pipeline));
      return fitted(tool, invocation, result, pipeline);
    }
    case 'did_not_happen':
      return 'did not happen';
    case 'unknown':
      return 'unknown';
  }
}

async function ask(
  tool: BoundTool,
  invocation: ToolInvocation,
  args: JsonValue,
  pipeline: Asked,
): Promise<ReconcileAnswer> {
  const asked = new AbortController();
  const { callKey, context, signal } = invocation;
  const follow = (): void => asked.abort(signal.reason);
  signal.addEventListener('abort', follow);
  try {
    let capabilities: ToolCapabilities;
    try {
      capabilities = await pipeline.capabilities(tool, invocation, asked.signal, new CallLimit());
    } catch (error) {
      signal.throwIfAborted();
      pipeline.onFault(tool, invocation, 'reconciliation', error);
      return { outcome: 'unknown' };
    }
    const work = () => tool.reconcile?.(args, { ...context, key: callKey }, capabilities) ?? Promise.resolve(null);
    const timeoutMs = Math.max(invocation.timeoutMs, leastMs);
    const ended = await within(work, { ...invocation, timeoutMs }, { ...pipeline, onCancel: asksOn });
    if (ended.kind === 'threw') pipeline.onFault(tool, invocation, 'reconciliation', ended.error);
    return ended.kind === 'value' && ended.value !== null ? (ended.value as ReconcileAnswer) : { outcome: 'unknown' };
  } finally {
    signal.removeEventListener('abort', follow);
    asked.abort(new Error('The tool is not asked any more.'));
  }
}

/** The call’s result, where the tool says that it had no effect: the model may make it again. */
export function withoutEffect(toolCallId: string): ToolExecResult {
  const message = 'The call did not come to its end, and the tool says that it took no effect: you may call it again.';
  return failure(toolCallId, 'execution', message, 'no_effect');
}

/** What became of a cancelled call is worth knowing, so that asking is not cancelled. */
function asksOn(): () => void {
  return () => undefined;
}
