import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { ClientCapabilities, InputRequiredResult, Result, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isJsonObject } from '@sluice/core';
import type { ConfiguredTool, JsonObject } from '@sluice/core';
import { extensionTask, namesIn, tasksExtension } from '@sluice/mcp';
import type { CallResult, ExtensionTask } from '@sluice/mcp';
import { answerIn, askForDecision, hasForms } from './approvals.js';
import { resultOfEnd, resultOfStep } from './call-result.js';
import { attempt, cutTexts, invalid, keyInUse } from './call-texts.js';
import type { Caller } from './callers.js';
import type { MadeCall } from './calls.service.js';
import { formAnswersIn, showForm } from './forms.js';
import { noSuchTask } from './serve-tasks.js';
import type { Around } from './serve-tasks.js';
import type { TaskRecord } from './task-records.js';
import type { Viewer } from './tasks.js';

/** The answer to a call that goes on as a task of the extension. */
export type GoingOn = ExtensionTask & { readonly resultType: 'task' };

/** How a task of the extension has ended. */
type Ended =
  | { readonly status: 'completed'; readonly result: CallResult & { readonly resultType: 'complete' } }
  | { readonly status: 'failed'; readonly error: { readonly code: number; readonly message: string } };

const TaskId = z.object({ taskId: z.string() });

/** Whether the client says, with this request, that it has tasks. */
export function hasTasks({ mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const said = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return isJsonObject(said?.extensions?.[tasksExtension] ?? null);
}

/** Makes a task of a call that was made and has not ended; null where its caller has no room for one more. */
export async function goOnAsTask(
  { requestId, sessionId, since }: MadeCall,
  call: {
    readonly tool: ConfiguredTool;
    readonly name: string;
    readonly args: JsonObject;
    readonly caller: Caller;
    readonly context: ServerContext;
  },
  { server, parts, connection }: Around,
): Promise<GoingOn | null> {
  const { tool, name, args, caller, context } = call;
  const { tasks, calls } = parts;
  const viewer = { caller, hasForms: hasForms(server, context) };
  const begun = { requestId, sessionId, since, session: connection.session ?? '', toolId: tool.id, name };
  const task = await tasks.records.begin(requestId, caller.principal, undefined, () =>
    Promise.resolve({ ...begun, hasForms: viewer.hasForms }),
  );
  if (task === null) return null;
  await calls.leave(caller, { tool, args, session: connection.session });
  const { status, ...seen } = extensionTask(await tasks.view(task, viewer));
  // A tool that failed has a result, so that its task is completed here.
  return { ...seen, status: status === 'failed' ? 'completed' : status, resultType: 'task' };
}

/** Serves the caller’s tasks by the extension of revision 2026-07-28: get, update and cancel. */
export function serveTaskExtension({ server, parts, connection }: Around): void {
  const { tasks, calls, runtime } = parts;

  serve('tasks/get', async (task, viewer, context) => {
    const seen = extensionTask(await tasks.view(task, viewer));
    switch (seen.status) {
      case 'working':
      case 'cancelled':
        return { ...seen };
      case 'input_required': {
        const question = await questionOf(task, viewer, context);
        return question === null ? { ...seen, status: 'working' } : { ...seen, inputRequests: question.inputRequests };
      }
      case 'completed':
      case 'failed':
        return { ...seen, ...(await endOf(task, viewer, context)) };
    }
  });

  serve('tasks/update', async (task, viewer, context) => {
    if (context.mcpReq.inputResponses === undefined) throw invalid('An update brings `inputResponses`.');
    const { caller } = viewer;
    const question = await tasks.question(task, viewer);
    if (question?.kind === 'form') {
      await calls.formToShow(caller, task.requestId, formAnswersIn(server, context));
      await tasks.answered(task, caller);
    } else if (question !== null && (await calls.deciding(caller, answerIn(context))(question))) tasks.decided(task);
    return {};
  });

  serve('tasks/cancel', async (task, { caller }) => {
    await tasks.cancel(task, caller);
    return {};
  });

  function serve(
    method: string,
    answer: (task: TaskRecord, viewer: Viewer, context: ServerContext) => Promise<Result>,
  ): void {
    server.setRequestHandler(method, { params: TaskId }, async ({ taskId }, context) => {
      if (!hasTasks(context))
        throw new MissingRequiredClientCapabilityError({
          requiredCapabilities: { extensions: { [tasksExtension]: {} } },
        });
      const caller = connection.callerOf(context);
      const task = await tasks.records.find(taskId, caller.principal);
      if (task === null) throw invalid(noSuchTask);
      return answer(task, { caller, hasForms: hasForms(server, context) }, context);
    });
  }

  /** What the client’s person is asked now; null where that was answered meanwhile. */
  async function questionOf(
    task: TaskRecord,
    viewer: Viewer,
    context: ServerContext,
  ): Promise<InputRequiredResult | null> {
    const { caller } = viewer;
    const question = await tasks.question(task, viewer);
    if (question?.kind === 'form') {
      const form = await calls.formToShow(caller, task.requestId, { without: null, of: () => null });
      return form === null ? null : showForm(form);
    }
    const loaded = runtime.configurations.current();
    const tool = namesIn(loaded.evaluator).byName.get(task.name);
    if (question === null || tool === undefined) return null;
    const { policy } = loaded.configuration;
    return askForDecision(question, {
      server,
      caller,
      context,
      tool,
      name: task.name,
      policy,
      now: runtime.clock.now(),
    });
  }

  async function endOf(task: TaskRecord, { caller }: Viewer, context: ServerContext): Promise<Ended> {
    const ids = { requestId: task.requestId, toolId: task.toolId };
    const outcome = await attempt(() =>
      calls.follow(caller, task, {
        ...{ signal: context.mcpReq.signal, onLive: () => undefined, onRecord: () => undefined },
        ...{ decide: () => Promise.resolve(true), formToShow: () => Promise.resolve(null) },
      }),
    );
    switch (outcome.kind) {
      case 'step': {
        const result = await resultOfStep(outcome.step, task.name, ids, caller.principal, runtime);
        return { status: 'completed', result: { ...result, resultType: 'complete' } };
      }
      case 'ended':
        return {
          status: 'completed',
          result: { ...resultOfEnd(outcome.error, ids, caller.principal), resultType: 'complete' },
        };
      case 'not_theirs':
        return { status: 'failed', error: { code: ProtocolErrorCode.InvalidParams, message: keyInUse } };
      case 'cut':
        throw new ProtocolError(ProtocolErrorCode.InternalError, cutTexts[outcome.why]);
      default:
        throw new Error('A task that has ended waits for nothing.');
    }
  }
}
