import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { InputRequiredResult, Server, ServerContext } from '@modelcontextprotocol/server';
import { TooManyRuns } from '@sluice/host';
import { undefinedState } from '@sluice/core';
import type { ConfiguredTool, JsonObject } from '@sluice/core';
import {
  argumentsRefusal,
  idempotencyKey,
  mayBeTask,
  namesIn,
  offeredTo,
  pendingResult,
  refusal,
  saidError,
  stateAfter,
} from '@sluice/mcp';
import type { CallResult } from '@sluice/mcp';
import { askingOf } from './asking.js';
import { answerIn, askForDecision } from './approvals.js';
import { hops } from './call-progress.js';
import { resultOfEnd, resultOfStep } from './call-result.js';
import { attempt, cutTexts, invalid, keyInUse } from './call-texts.js';
import type { Caller } from './callers.js';
import type { CallKey, MadeCall } from './calls.service.js';
import type { ClientLog } from './client-log.js';
import type { Connection } from './connection.js';
import { goesOn } from './follow-call.js';
import { formAnswersIn, showForm } from './forms.js';
import { sayListsChanged } from './lists-changed.js';
import type { ServerParts } from './server-parts.js';
import { goOnAsTask, hasTasks } from './serve-task-extension.js';
import type { GoingOn } from './serve-task-extension.js';
import { beginTask } from './serve-tasks.js';
import type { BegunTask } from './serve-tasks.js';
import type { MintedCredential } from './state-credentials.js';
import { taskIn } from './task-server.js';
import type { WantedTask } from './task-server.js';

/** Admitted before. */
const free = { done: (): void => undefined };

/** Of a caller that may not decide no answer counts. */
const noAnswer = (): null => null;
const closedHere =
  'To decide here, send the local secret as the bearer token (docs/mcp.md); or decide with `sluice approvals` or over HTTP. ';

type Answer = CallResult | InputRequiredResult | BegunTask | GoingOn;

/** A call that takes longer goes on as a task, where its client has the extension for them, in milliseconds. */
const shortMs = 500;

const movesState = 'moves the state of its session, so that it cannot be called as a task. Call it without `task`.';

/** A call as it came. */
interface Came {
  readonly tool: ConfiguredTool;
  readonly name: string;
  readonly args: JsonObject;
  readonly caller: Caller;
  readonly context: ServerContext;
}

/** Serves `tools/call`: the run of one call, in turn with the others of its session. */
export function serveCalls(server: Server, parts: ServerParts, connection: Connection, log: ClientLog): void {
  const { inTurn, session } = connection;

  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const caller = connection.callerOf(context);
    const { metrics, configurations } = parts.runtime;
    const { evaluator } = configurations.current();
    const tool = namesIn(evaluator).byName.get(params.name);
    if (tool === undefined) {
      metrics.mcpCalls.inc({ outcome: 'protocol' });
      throw invalid(`There is no tool of the name ${JSON.stringify(params.name.slice(0, 128))}.`);
    }
    const wanted = connection.tasks === null ? null : taskIn(params);
    if (wanted !== null && !mayBeTask(tool)) {
      metrics.mcpCalls.inc({ outcome: 'protocol' });
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${params.name} ${movesState}`);
    }
    const refused = argumentsRefusal(params._meta, params.name);
    if (refused !== null) {
      metrics.mcpCalls.inc({ outcome: 'user_input' });
      return refusal('user_input', refused, { requestId: null }, { code: 'validation', reason: null });
    }
    const limited = connection.isResumed ? free : await parts.limits.admit(caller.principal);
    if ('refused' in limited) {
      metrics.mcpCalls.inc({ outcome: 'limited' });
      return refusal('system', limited.refused, { requestId: null }, { code: 'unavailable', reason: 'rate_limited' });
    }
    const since = performance.now();
    const came = { tool, name: params.name, args: (params.arguments ?? {}) as JsonObject, caller, context };
    const act = (): Promise<Answer> => (wanted === null ? answer(came) : begun(came, wanted));
    try {
      const result = await (tool.target === null ? inTurn.besides(act, () => isPermitted(came)) : inTurn.alone(act));
      metrics.mcpCalls.inc({ outcome: outcomeOf(result) });
      // The SDK’s type of the answer has no tasks.
      return result as Exclude<Answer, BegunTask | GoingOn>;
    } catch (error) {
      if (error instanceof TooManyRuns) {
        metrics.mcpCalls.inc({ outcome: 'limited' });
        return refusal('system', error.message, { requestId: null }, { code: 'unavailable', reason: 'too_many_runs' });
      }
      metrics.mcpCalls.inc({ outcome: 'protocol' });
      throw error;
    } finally {
      metrics.mcpCallDuration.observe((performance.now() - since) / 1_000);
      limited.done();
    }
  });

  /** Whether the call would be admitted in the present state of the session, as far as a list of tools says. */
  async function isPermitted({ tool, caller }: Came): Promise<boolean> {
    const { evaluator } = parts.runtime.configurations.current();
    const offered = offeredTo(await askingOf(caller, session, parts), evaluator, null);
    // With bounds in its schema it is offered as another object.
    return offered.some(({ id }) => id === tool.id);
  }

  /** Begins the call as a task, whose result is asked for later. */
  async function begun({ tool, name, args, caller, context }: Came, { ttl }: WantedTask): Promise<BegunTask> {
    return attempt(async () => {
      const state = await parts.states.stateOf(session, caller.principal);
      const call = { tool, name, args, state, key: keyOf(context), headers: traceOf(context) };
      return beginTask({ ...call, ttl, caller, context }, { server, parts, connection });
    });
  }

  async function answer(came: Came): Promise<Answer> {
    const { tool, args, caller, context } = came;
    const { signal } = context.mcpReq;
    const hear = hops(came, log, connection.heardProgress);
    const mayGoOn = connection.tasks === null && mayBeTask(tool) && hasTasks(context);
    return attempt(async () => {
      const state = await parts.states.stateOf(session, caller.principal);
      const wanted = {
        ...{ tool, args, session, state, key: keyOf(context), headers: traceOf(context) },
        answer: caller.mayDecide ? answerIn(context) : noAnswer,
        forms: formAnswersIn(server, context),
        isResumed: connection.isResumed,
      };
      if (!mayGoOn) return finished(await parts.calls.make(caller, wanted, signal, hear), state, came);
      const isLong = new AbortController();
      const timer = setTimeout(() => isLong.abort(goesOn), shortMs);
      const made = await parts.calls
        .make(caller, wanted, AbortSignal.any([signal, isLong.signal]), hear)
        .finally(() => clearTimeout(timer));
      if (!['goes_on', 'waiting', 'form'].includes(made.outcome.kind)) return finished(made, state, came);
      const task = await goOnAsTask(made, came, { server, parts, connection });
      if (task !== null) return task;
      if (made.outcome.kind !== 'goes_on') return finished(made, state, came);
      // Without room for a task its client waits, as one that has none.
      const again = { ...wanted, requestId: made.requestId, since: made.since, isResumed: true };
      return finished(await parts.calls.followAgain(caller, again, signal, hear), state, came);
    });
  }

  async function finished(
    { requestId, outcome, isRepeated }: MadeCall,
    before: string | null,
    came: Came,
  ): Promise<Answer> {
    const { tool, name, caller, context } = came;
    const ids = { requestId, toolId: tool.id };
    switch (outcome.kind) {
      case 'step': {
        const { step } = outcome;
        // The result of a call made before moves no state that other calls have moved since.
        const isPast = isRepeated && step.stateBefore !== (before ?? undefinedState);
        const after = isPast ? before : stateAfter(before, step);
        const credential = after === before ? null : await moved(after, caller);
        if (step.outcome !== 'ok') await log.write(context, 'warning', { tool: name, ...saidError(step) });
        return withCredential(await resultOfStep(step, name, ids, caller.principal, parts.runtime), credential);
      }
      case 'waiting': {
        const { configurations, clock } = parts.runtime;
        const { policy } = configurations.current().configuration;
        const asked = askForDecision(outcome, { server, caller, context, tool, name, policy, now: clock.now() });
        const closed = caller.mayDecide ? '' : closedHere;
        return asked ?? pendingResult(outcome.requested, name, ids, outcome.notTaken, closed);
      }
      case 'form':
        return showForm(outcome.form);
      case 'ended':
        return resultOfEnd(outcome.error, ids, caller.principal);
      case 'goes_on':
        throw new Error('A call that goes on is a task.');
      case 'not_theirs':
        throw invalid(keyInUse);
      case 'cut':
        return refusal('system', cutTexts[outcome.why], ids, { code: 'unavailable', reason: outcome.why });
    }
  }

  /**
   * Moves the session to its next state; returns the credential that stands for it, in the era where the state is in
   * one.
   */
  async function moved(state: string | null, caller: Caller): Promise<MintedCredential | null> {
    if (session === null) return null;
    const { principal, token } = caller;
    if (caller.state === null) {
      await parts.states.move(session, principal, state);
      await sayListsChanged(server);
      return null;
    }
    const minted = await parts.credentials.after(caller.state, { principal, token });
    if (minted !== null) await parts.states.move(session, principal, state);
    return minted;
  }

  function keyOf(context: ServerContext): CallKey | null {
    const { id, _meta } = context.mcpReq;
    const given = _meta?.[idempotencyKey];
    if (given !== undefined) {
      if (typeof given !== 'string' || given === '' || given.length > 256)
        throw invalid(`_meta["${idempotencyKey}"] must be a text of 1 to 256 characters.`);
      return { kind: 'key', text: given };
    }
    return connection.hasUniqueIds ? { kind: 'message', text: JSON.stringify(id) } : null;
  }
}

function withCredential(result: CallResult, credential: MintedCredential | null): CallResult {
  return credential === null ? result : { ...result, _meta: { ...result._meta, 'sluice/credential': credential } };
}

/** What a call came to, for the metric. */
function outcomeOf(answer: Answer): string {
  if ('task' in answer || 'taskId' in answer) return 'task';
  if (!('content' in answer)) return 'pending';
  const { isError, _meta } = answer as CallResult;
  if (_meta['sluice/approval'] !== undefined) return 'pending';
  const error = _meta['sluice/error'] as { readonly category: string } | undefined;
  return isError && error !== undefined ? error.category : 'ok';
}

/** The trace that the call belongs to. */
function traceOf({ mcpReq }: ServerContext): Readonly<Record<string, string>> {
  const { traceparent, tracestate } = mcpReq._meta ?? {};
  const given = { traceparent, tracestate };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
