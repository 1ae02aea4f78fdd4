import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ElicitResult, Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ConfiguredTool, JsonObject } from '@sluice/core';
import { namesIn, pageOf, refusal, relatedTo, resultOfTask, servedTask } from '@sluice/mcp';
import type { CallResult, ServedTask } from '@sluice/mcp';
import { answerIn, askForDecision, hasForms } from './approvals.js';
import { hops } from './call-progress.js';
import { resultOfEnd, resultOfStep } from './call-result.js';
import { attempt, cutTexts, invalid, keyInUse } from './call-texts.js';
import type { Caller } from './callers.js';
import type { CallKey } from './calls.service.js';
import type { ClientLog } from './client-log.js';
import type { Connection } from './connection.js';
import type { CallOutcome } from './follow-call.js';
import { formAnswersIn, showForm } from './forms.js';
import type { ServerParts } from './server-parts.js';
import { mostTasks } from './task-records.js';
import type { TaskRecord } from './task-records.js';
import type { Viewer } from './tasks.js';

/** Tasks on one page. */
const pageTasks = 50;
/** Questions to the person while one result is waited for, at most, and how long each waits, in milliseconds. */
const mostQuestions = 32;
const questionMs = 10 * 60_000;

const TaskId = z.object({ taskId: z.string() });
const Page = z.object({ cursor: z.string().optional() });

/** Of another caller’s task nothing is said, not even that it is there. */
export const noSuchTask = 'There is no such task, or it is no longer kept.';
const tooMany = `This caller has ${mostTasks} tasks under way. Cancel one, or wait until one has ended, and try again.`;

export interface Around {
  readonly server: Server;
  readonly parts: ServerParts;
  readonly connection: Connection;
}

/** A call that is to be a task. */
interface TaskCall {
  readonly tool: ConfiguredTool;
  readonly name: string;
  readonly args: JsonObject;
  readonly state: string | null;
  readonly key: CallKey | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly ttl: number | undefined;
  readonly caller: Caller;
  readonly context: ServerContext;
}

/** The answer to a call that became a task. */
export interface BegunTask {
  readonly task: ServedTask;
}

/** Begins a call as a task; the same call again, by its key or message, is the same task. */
export async function beginTask(call: TaskCall, { server, parts, connection }: Around): Promise<BegunTask> {
  const { tool, name, key, ttl, caller, context } = call;
  const { tasks, calls } = parts;
  const session = connection.session ?? '';
  if (key === null) throw new Error('A call without a key cannot be a task.');
  const viewer = { caller, hasForms: hasForms(server, context) };
  const id = await calls.idOf(caller, session, key);
  let isNew = false;
  const task = await tasks.records.begin(id, caller.principal, ttl, async () => {
    const begun = await calls.start(caller, { ...call, session, key }, id);
    isNew = true;
    return { ...begun, session, toolId: tool.id, name, hasForms: viewer.hasForms };
  });
  if (task === null) throw new ProtocolError(ProtocolErrorCode.InternalError, tooMany);
  if (!isNew) return { task: await tasks.view(task, viewer) };
  const say = connection.tasks?.say;
  if (say !== undefined) tasks.watch(task, viewer, say);
  return { task: servedTask(task, { status: 'working', message: '', at: task.createdAt }, false) };
}

/** Serves the caller’s tasks (revision 2025-11-25): get, list, cancel, and the result, also of another session. */
export function serveTasks({ server, parts, connection }: Around, log: ClientLog): void {
  const { tasks, calls, runtime } = parts;

  server.setRequestHandler('tasks/get', { params: TaskId }, async ({ taskId }, context) => {
    return asResult(await tasks.view(await taskOf(taskId, context), viewerOf(context)));
  });

  server.setRequestHandler('tasks/list', { params: Page }, async ({ cursor }, context) => {
    const viewer = viewerOf(context);
    const { principal, mayDecide } = viewer.caller;
    const all = await tasks.records.all(principal);
    // Any program of the machine may call without an identity: it sees the tasks of its own session.
    const own = mayDecide ? all : all.filter(({ session }) => session === connection.session);
    const found = pageOf(own, 'tasks', cursor, pageTasks);
    if (found === null) throw invalid('The cursor is not of this list. List from the beginning.');
    const { page, ...rest } = found;
    const served: ServedTask[] = [];
    // One after another: each may read a piece of the log.
    for (const task of page) served.push(await tasks.view(task, viewer));
    return asResult({ tasks: served, ...rest });
  });

  server.setRequestHandler('tasks/cancel', { params: TaskId }, async ({ taskId }, context) => {
    const viewer = viewerOf(context);
    const task = await taskOf(taskId, context);
    if (!(await tasks.cancel(task, viewer.caller))) throw invalid('The task has ended, so it cannot be cancelled.');
    return asResult(await tasks.view(await taskOf(taskId, context), viewer));
  });

  server.setRequestHandler('tasks/result', { params: TaskId }, async ({ taskId }, context) => {
    const task = await taskOf(taskId, context);
    return asResult(resultOfTask(await resultOf(task, context), taskId));
  });

  async function taskOf(id: string, context: ServerContext): Promise<TaskRecord> {
    const task = await tasks.records.find(id, connection.callerOf(context).principal);
    if (task === null) throw invalid(noSuchTask);
    return task;
  }

  function viewerOf(context: ServerContext): Viewer {
    return { caller: connection.callerOf(context), hasForms: hasForms(server, context) };
  }

  /** What the task’s call came to, once it has; on the way there the person before the client may be asked. */
  async function resultOf(task: TaskRecord, context: ServerContext): Promise<CallResult> {
    const { caller } = viewerOf(context);
    const ids = { requestId: task.requestId, toolId: task.toolId };
    for (let answers: Readonly<Record<string, ElicitResult>> | null = {}, n = 0; ; n++) {
      const outcome = await followed(task, context, n < mostQuestions ? answers : null);
      switch (outcome.kind) {
        case 'step':
          return resultOfStep(outcome.step, task.name, ids, caller.principal, runtime);
        case 'ended':
          return resultOfEnd(outcome.error, ids, caller.principal);
        case 'not_theirs':
          throw invalid(keyInUse);
        case 'cut':
          return refusal('system', cutTexts[outcome.why], ids, { code: 'unavailable', reason: outcome.why });
        case 'goes_on':
          break;
        case 'waiting':
        case 'form':
          answers = answers && (await answered(task, outcome, answers, context));
      }
    }
  }

  /** Follows the call to its end, or to a question; no question is asked where the answers so far are null. */
  async function followed(
    task: TaskRecord,
    context: ServerContext,
    answers: Readonly<Record<string, ElicitResult>> | null,
  ): Promise<CallOutcome> {
    const { caller, hasForms: isShown } = viewerOf(context);
    const given = withAnswers(context, answers ?? {});
    const decide = calls.deciding(caller, caller.mayDecide ? answerIn(given) : () => null);
    const tool = toolOf(task);
    const hear = tool === null ? () => undefined : hops({ ...task, tool, context }, log, connection.heardProgress);
    let isLive = false;
    return attempt(() =>
      calls.follow(caller, task, {
        signal: context.mcpReq.signal,
        onLive: () => (isLive = true),
        onRecord: (message) => {
          if (isLive) hear(message);
        },
        // The task waits for the decision wherever it is made, if not here.
        decide: async (waiting) =>
          (await decide(waiting)) || answers === null || questionOf(task, waiting, given) === null,
        formToShow: async () =>
          isShown && answers !== null ? calls.formToShow(caller, task.requestId, formAnswersIn(server, given)) : null,
      }),
    );
  }

  function toolOf({ name }: TaskRecord): ConfiguredTool | null {
    return namesIn(runtime.configurations.current().evaluator).byName.get(name) ?? null;
  }

  function questionOf(
    task: TaskRecord,
    outcome: Extract<CallOutcome, { kind: 'waiting' | 'form' }>,
    context: ServerContext,
  ): ReturnType<typeof askForDecision> {
    if (outcome.kind === 'form') return showForm(outcome.form);
    const tool = toolOf(task);
    if (tool === null) return null;
    const { policy } = runtime.configurations.current().configuration;
    const [caller, now] = [connection.callerOf(context), runtime.clock.now()];
    return askForDecision(outcome, { server, caller, context, tool, name: task.name, policy, now });
  }

  /** Asks the person before the client; null where the client gave no answer, and is asked nothing more. */
  async function answered(
    task: TaskRecord,
    outcome: Extract<CallOutcome, { kind: 'waiting' | 'form' }>,
    answers: Readonly<Record<string, ElicitResult>>,
    context: ServerContext,
  ): Promise<Readonly<Record<string, ElicitResult>> | null> {
    const [asked] = Object.entries(questionOf(task, outcome, withAnswers(context, answers))?.inputRequests ?? {});
    if (asked === undefined) return null;
    const [id, { params }] = asked;
    const question = { ...params, _meta: relatedTo(task.id) };
    try {
      const { signal } = context.mcpReq;
      const options = { timeout: questionMs, resetTimeoutOnProgress: true, signal };
      const request = { method: 'elicitation/create' as const, params: question };
      return { ...answers, [id]: await context.mcpReq.send(request, options) };
    } catch (error) {
      if (context.mcpReq.signal.aborted) throw error;
      return null;
    }
  }
}

/** The SDK’s type of results lets any member be. */
function asResult(of: object): Record<string, unknown> {
  return of as Record<string, unknown>;
}

/** The request as if it had brought these answers to questions. */
function withAnswers(context: ServerContext, inputResponses: Readonly<Record<string, ElicitResult>>): ServerContext {
  return { ...context, mcpReq: { ...context.mcpReq, inputResponses } };
}
