import { isTaskAugmentedRequestParams, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { JSONRPCRequest, Result, ServerContext } from '@modelcontextprotocol/server';
import { isJsonObject } from '@sluice/core';
import type { JsonValue } from '@sluice/core';
import type { CallResult } from '@sluice/mcp';

/** What a client says of the task that it wants a call to be. */
export interface WantedTask {
  /** Milliseconds. */
  readonly ttl: number | undefined;
}

/** Null where the client wants the result itself. */
export function taskIn(params: unknown): WantedTask | null {
  const { task } = (params ?? {}) as { readonly task?: JsonValue };
  if (!isJsonObject(task ?? null) || !isTaskAugmentedRequestParams(params)) return null;
  const { ttl } = task as { readonly ttl?: number };
  return { ttl };
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/**
 * The SDK’s server, which holds every answer to a call to the shape of a result. Here the answer to a call that is to
 * be a task is that task, and where there is none, an error says why.
 */
export class TaskServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler);
    if (method !== 'tools/call') return wrapped;
    return async (request, context) => {
      if (taskIn(request.params) === null) return wrapped(request, context);
      const answer = await handler(request, context);
      if ('task' in answer) return answer;
      throw refusedAs(answer as unknown as CallResult);
    };
  }
}

/** Carries a task past the SDK’s look at results. */
class Begun extends Error {
  constructor(readonly task: Result) {
    super('The call goes on as a task.');
  }
}

/** The SDK’s server, which answers a call with a result or, by the extension for tasks, with a task. */
export class TaskExtensionServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    if (method !== 'tools/call') return super._wrapHandler(method, handler);
    const wrapped = super._wrapHandler(method, async (request, context) => {
      const answer = await handler(request, context);
      if (answer['resultType'] === 'task') throw new Begun(answer);
      return answer;
    });
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (error) {
        if (error instanceof Begun) return error.task;
        throw error;
      }
    };
  }
}

/** What would be a result that the model reads. */
function refusedAs({ content: [first], _meta }: CallResult): ProtocolError {
  const error = _meta['sluice/error'] as { readonly category: string } | undefined;
  const isInvalid = error?.category === 'user_input';
  const code = isInvalid ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  const text = first?.type === 'text' ? first['text'] : undefined;
  return new ProtocolError(code, typeof text === 'string' ? text : 'The task could not begin.');
}
