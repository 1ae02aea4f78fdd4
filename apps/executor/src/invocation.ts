import { utf8Length } from '@sluice/core';
import type { JsonValue, ToolInvocation } from '@sluice/core';
import type { RequestedCall, ToolCall } from '@sluice/contracts';
import { callerOf, callIdOf, callKeyOf } from '@sluice/decisions';

/** A call of a turn as the pipeline takes it. `timeoutMs` is how long the tool may run, in milliseconds. */
export function invocationOf(
  record: ToolCall,
  call: RequestedCall,
  index: number,
  args: JsonValue,
  connectionId: string | undefined,
  timeoutMs: number,
  signal: AbortSignal,
): ToolInvocation {
  return {
    toolId: call.tool,
    args,
    argumentBytes: utf8Length(call.arguments),
    context: {
      runId: record.requestId,
      sessionId: record.sessionId,
      toolCallId: callIdOf(record, call, index),
      ...callerOf(record),
      ...(connectionId === undefined ? {} : { connectionId }),
    },
    callKey: callKeyOf(record, call, index),
    timeoutMs,
    signal,
  };
}
