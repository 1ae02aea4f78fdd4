import { isDeeperThan } from '../plain-json.js';
import { type JsonObject, type JsonValue, isJsonObject } from '../json.js';
import type { ToolErrorReason } from '../errors.js';
import { referencesOnly } from './context.js';
import { finish, fitted } from './finish.js';
import type { CallEnd, ToolInvocation, ToolLimits, ToolPipeline, Verdict, Waits } from './pipeline.js';
import { reconcile } from './reconcile.js';
import {
  failure,
  isA,
  isKeptBack,
  notBound,
  textOf,
  noCredential,
  refused,
  thrown,
  unavailable,
  lost,
} from './refusals.js';
import {
  ToolConnectionDeniedError,
  ToolInputError,
  ToolOutput,
  ToolUnavailableError,
  ToolWaitsError,
} from './types.js';
import type { BoundTool, ToolCapabilities, ToolExecResult } from './types.js';
import { CallLimit } from './call-limit.js';
import { within } from './within.js';
import type { Ended } from './within.js';

/** Levels of nesting that arguments may have. */
const deepestArguments = 64;

/** How a call left the stages. What is refused, or waits for an approval, may have been begun by an earlier attempt. */
type Way<Parked> =
  | { readonly kind: 'refused'; readonly result: ToolExecResult }
  | { readonly kind: 'waits'; readonly parked: Parked }
  | { readonly kind: 'begins'; readonly parked: Parked }
  | { readonly kind: 'ran'; readonly result: ToolExecResult };

/**
 * Runs one tool call: the only way a tool runs. Never throws for what the tool or its caller did wrong; throws only
 * for faults of the system, such as a ledger out of reach.
 */
export async function runTool<Parked>(
  invocation: ToolInvocation,
  pipeline: ToolPipeline<Parked>,
): Promise<CallEnd<Parked>> {
  const call = { ...invocation, context: referencesOnly(invocation.context) };
  const way = await stages(call, pipeline);
  const before = way.kind === 'refused' || way.kind === 'waits' ? await pipeline.begun(call) : null;
  if (before === null && (way.kind === 'waits' || way.kind === 'begins')) {
    pipeline.onParked(invocation, way.parked);
    return { kind: 'parked', parked: way.parked };
  }
  const result = before?.result ?? (way as Way<Parked> & { result: ToolExecResult }).result;
  pipeline.onResult(invocation, result);
  return { kind: 'done', result, begunAtMs: before?.startedAtMs ?? null };
}

async function stages<Parked>(invocation: ToolInvocation, pipeline: ToolPipeline<Parked>): Promise<Way<Parked>> {
  const { toolId, context } = invocation;
  const refuse = (verdict: Verdict & { ok: false }): Way<Parked> => turnedAway(refused(verdict, context));

  // 1 lookup, 2 eligibility and grant, then policy: cheap, before anything of the tool is touched
  const eligible = pipeline.eligible(toolId);
  if (!eligible.ok) return refuse(eligible);
  const allowed = pipeline.allowed(toolId);
  if (!allowed.ok) return refuse(allowed);
  const tool = pipeline.source.getBoundTool(toolId);
  if (tool === undefined) return turnedAway(notBound(context.toolCallId, toolId));

  // 3 authorization
  const authorized = await pipeline.authorize(tool, context, invocation.args);
  if (!authorized.ok) return refuse(authorized);

  // 4 connection
  const connected = await pipeline.connection(tool, context, invocation.args);
  if (!connected.ok) return refuse(connected);

  // 5 input
  const input = await validateInput(invocation, tool, pipeline);
  if (!input.ok) return turnedAway(input.refusal);

  // 3 and 4 again, where an authorizer looks at arguments and these are others than the model wrote
  const permitted = await pipeline.authorizeValidated(tool, invocation, input.args);
  if (!permitted.ok) return refuse(permitted);

  const bounded = await pipeline.bounds(tool, invocation, input.args);
  if (!bounded.ok) return refuse(bounded);

  // still policy, and last of it: a call that was refused above needs no approval and counts against no rate
  const approved = await pipeline.approval(tool, invocation, input.args);
  if ('parked' in approved) return { kind: 'waits', parked: approved.parked };
  if (!approved.ok) return refuse(approved);
  const counted = await pipeline.rate(tool, invocation);
  if (!counted.ok) return refuse(counted);

  // an agent runs elsewhere: nothing of it is left for this process
  const elsewhere = await pipeline.handOver(tool, invocation, input.args);
  if (elsewhere !== null) {
    if (!('parked' in elsewhere)) return { kind: 'ran', result: refused(elsewhere, context) };
    pipeline.onStart(invocation, input.args);
    return { kind: 'begins', parked: elsewhere.parked };
  }

  // 6 capabilities, with a signal that ends with the call
  const own = new AbortController();
  const limit = new CallLimit();
  const follow = (): void => own.abort(invocation.signal.reason);
  invocation.signal.addEventListener('abort', follow);
  try {
    let capabilities: ToolCapabilities;
    try {
      capabilities = await pipeline.capabilities(tool, invocation, own.signal, limit);
    } catch (error) {
      if (isKeptBack(error)) pipeline.onFault(tool, invocation, 'capabilities', error);
      if (isA(ToolUnavailableError, error)) return turnedAway(unavailable(context.toolCallId, error));
      if (isA(ToolConnectionDeniedError, error)) return turnedAway(noCredential(context.toolCallId, error));
      throw error;
    }

    let hasStarted = false;
    const start = (): void => {
      if (!hasStarted) pipeline.onStart(invocation, input.args);
      hasStarted = true;
    };

    // before the claim of an effect, in the call’s own time: where it fails, nothing of the call was sent
    let connectedMs = 0;
    const connect = async (): Promise<ToolExecResult | null> => {
      start();
      const began = performance.now();
      const work = () => tool.connect?.(context, capabilities, invocation.timeoutMs) ?? Promise.resolve();
      const ended = await within(work, invocation, pipeline);
      connectedMs = performance.now() - began;
      if (ended.kind === 'value') return null;
      own.abort(callEnded);
      const outcome = ended.kind === 'timeout' ? { kind: 'threw' as const, error: notConnected(invocation) } : ended;
      return pipeline.conceal(tool, judge({ ...tool, effect: 'read_only' }, invocation, outcome, pipeline));
    };

    // 7 start, 8 execute, 9 validate output, 10 redact, and no credential: at most once for this call
    const effect = async (): Promise<ToolExecResult | Waits> => {
      const cached = tool.cacheMs === undefined ? null : await pipeline.cached(tool, invocation, input.args);
      start();
      const left = { ...invocation, timeoutMs: Math.max(1, invocation.timeoutMs - connectedMs) };
      const { ended, answer } =
        cached?.kind === 'found'
          ? { ended: { kind: 'value', value: cached.output } as const, answer: cached.answer }
          : withoutAnswer(await within(() => tool.exec(input.args, context, capabilities), left, pipeline, limit));
      own.abort(callEnded);
      if (ended.kind === 'threw' && isA(ToolWaitsError, ended.error)) {
        await pipeline.keepWaiting(invocation, ended.error.state);
        return 'waits';
      }
      const questions = cached?.kind === 'found' ? [] : pipeline.questions();
      const judged = judge(tool, invocation, ended, pipeline);
      const concealed = pipeline.conceal(tool, judged);
      // An output with a credential in it is not kept: the next call may have another one to look for.
      if (cached?.kind === 'none' && ended.kind === 'value' && judged.ok && concealed === judged)
        cached.keep(ended.value as JsonValue, answer);
      // What redaction or a credential took something out of is passed on as what is left of the value.
      const passed = answer === null || concealed !== judged ? null : passedOn(tool, answer, judged, pipeline);
      const kept = await fitted(tool, invocation, concealed, pipeline);
      const whole = passed === null || !kept.ok ? [] : await pipeline.keepAnswer(invocation, passed);
      const content = [...whole, ...(kept.content ?? [])];
      const named = content.length === 0 ? kept : { ...kept, content };
      const result = questions.length === 0 ? named : { ...named, questions };
      return cached?.kind === 'found' ? { ...result, cachedAtMs: cached.cachedAtMs } : result;
    };
    const ask = () => reconcile(tool, invocation, input.args, pipeline);
    const result = await pipeline.once(tool, invocation, effect, ask, tool.connect === undefined ? null : connect);
    if (result === 'waits') return { kind: 'begins', parked: pipeline.answer(tool, invocation) };
    return { kind: 'ran', result };
  } finally {
    invocation.signal.removeEventListener('abort', follow);
  }
}

/** How the work ended, with the value alone, and the answer that came beside it. */
function withoutAnswer(ended: Ended): { readonly ended: Ended; readonly answer: JsonObject | null } {
  if (ended.kind !== 'value' || !(ended.value instanceof ToolOutput)) return { ended, answer: null };
  const { value, answer } = ended.value;
  return { ended: { kind: 'value', value }, answer };
}

/**
 * What of the answer leaves the tool; null where only the value does. So it is where a credential stands in the
 * answer: what is left of the value is all that is passed on.
 */
function passedOn(
  tool: BoundTool,
  answer: JsonObject,
  judged: ToolExecResult,
  pipeline: Pick<ToolPipeline, 'conceal'>,
): JsonObject | null {
  if (!judged.ok) return null;
  const whole = 'whole' in tool.spec.redaction ? answer : (tool.redactAnswer?.(answer, judged.value) ?? null);
  if (whole === null) return null;
  const asValue = { ...judged, value: whole };
  return pipeline.conceal(tool, asValue) === asValue ? whole : null;
}

function turnedAway(result: ToolExecResult): Way<never> {
  return { kind: 'refused', result };
}

function judge(
  tool: BoundTool,
  invocation: ToolInvocation,
  ended: Ended,
  pipeline: Pick<ToolPipeline, 'hashResult' | 'limits' | 'onFault'>,
): ToolExecResult {
  const { toolCallId } = invocation.context;
  switch (ended.kind) {
    case 'timeout':
      return lost(tool, toolCallId, `The tool did not end within ${invocation.timeoutMs / 1000} s.`, 'timeout');
    case 'cancelled':
      return lost(tool, toolCallId, 'The call was cancelled.', 'cancelled');
    case 'threw':
      if (isKeptBack(ended.error)) pipeline.onFault(tool, invocation, 'execution', ended.error);
      return thrown(tool, toolCallId, ended.error, pipeline.limits);
    case 'value':
      return finish(tool, invocation, ended.value, pipeline);
  }
}

/** Why a tool's signal is aborted when its call is over, in whatever way. One for all: an error's stack is costly. */
const callEnded = new Error('The call has ended.');

function notConnected({ toolId, timeoutMs }: ToolInvocation): ToolUnavailableError {
  return new ToolUnavailableError(`The server of ${toolId} was not connected to within ${timeoutMs / 1000} s.`);
}

/** Why arguments are not even looked at, or null if they are: too many bytes, or too deep. */
function argumentsRefused(
  args: JsonValue,
  bytes: number,
  limits: Pick<ToolLimits, 'argumentBytes'>,
  toolCallId: string,
): ToolExecResult | null {
  if (bytes > limits.argumentBytes) {
    const message = `The arguments have ${bytes} bytes and the limit is ${limits.argumentBytes}. Send less in one call.`;
    return failure(toolCallId, 'validation', message, 'arguments_too_large');
  }
  if (!isDeeperThan(args, deepestArguments)) return null;
  const message = `The arguments are nested deeper than ${deepestArguments} levels. Send them flatter.`;
  return failure(toolCallId, 'validation', message);
}

type Input = { readonly ok: true; readonly args: JsonValue } | { readonly ok: false; readonly refusal: ToolExecResult };

async function validateInput(
  invocation: ToolInvocation,
  tool: BoundTool,
  { limits, page, onFault }: Pick<ToolPipeline, 'limits' | 'page' | 'onFault'>,
): Promise<Input> {
  const { args, argumentBytes, context } = invocation;
  const refuse = (message: string, reason?: ToolErrorReason): Input => ({
    ok: false,
    refusal: failure(context.toolCallId, 'validation', message, reason),
  });
  const oversized = argumentsRefused(args, argumentBytes, limits, context.toolCallId);
  if (oversized !== null) return { ok: false, refusal: oversized };
  // An open schema would take it too, and the server would act on another connection than the one that was checked.
  if (tool.requiresConnection && isJsonObject(args) && Object.hasOwn(args, 'connectionId'))
    return refuse('The arguments do not fit: the tool is bound to its connection. Leave connectionId out.');
  try {
    return { ok: true, args: await tool.validateInput(args) };
  } catch (error) {
    if (isA(ToolInputError, error))
      return refuse(`The arguments do not fit: ${textOf(error)}.${page === undefined ? '' : ` Read ${page} first.`}`);
    // A check that throws has not passed; its text is not shown to the model.
    onFault(tool, invocation, 'arguments', error);
    return refuse('The arguments could not be checked, so the tool was not run. Try other arguments or another tool.');
  }
}
