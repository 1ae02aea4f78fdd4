import { runTool } from '@sluice/core';
import type { BoundTool, JsonValue, ToolExecResult, ToolInvocation, ToolPipeline } from '@sluice/core';

export const secret = 'token-4711';

/** A tool that gives back its arguments. */
export function tool(changes: Partial<BoundTool> = {}): BoundTool {
  return {
    id: 'core__echo',
    spec: {
      name: 'core__echo',
      description: '',
      inputSchema: { type: 'object' },
      redaction: { whole: true },
      effect: 'read_only',
      schemaHash: '',
    },
    effect: 'read_only',
    requiresConnection: false,
    capabilities: [],
    repeatable: true,
    validateInput: (raw) => raw,
    exec: (args) => Promise.resolve(args),
    validateOutput: (output) => output as JsonValue,
    redact: (output) => output,
    ...changes,
  };
}

/** A call of it, of somebody. */
export function invocation(changes: Partial<ToolInvocation> = {}): ToolInvocation {
  return {
    toolId: 'core__echo',
    args: { a: 1 },
    argumentBytes: 7,
    context: { runId: 'r', sessionId: 's', toolCallId: 'c-1', actorId: 'user:u', tenantId: 't' },
    callKey: 'k',
    timeoutMs: 1_000,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** A pipeline in which everything passes; `seen` names the stages in the order in which they were gone through. */
export function pipeline(
  bound: BoundTool | undefined,
  changes: Partial<ToolPipeline> = {},
): ToolPipeline & { readonly seen: string[] } {
  const seen: string[] = [];
  const stage = <T>(name: string, value: T): T => {
    seen.push(name);
    return value;
  };
  const watched: BoundTool | undefined = bound && {
    ...bound,
    validateInput: (raw) => stage('validate input', bound.validateInput(raw)),
    exec: (...given) => stage('execute', bound.exec(...given)),
    validateOutput: (output) => stage('validate output', bound.validateOutput(output)),
    redact: (output) => stage('redact', bound.redact(output)),
  };
  return {
    seen,
    source: { getBoundTool: () => stage('lookup', watched), listToolSpecs: () => [] },
    eligible: () => stage('eligible', { ok: true }),
    allowed: () => stage('policy', { ok: true }),
    authorize: () => Promise.resolve(stage('authorize', { ok: true })),
    connection: () => Promise.resolve(stage('connection', { ok: true })),
    authorizeValidated: () => Promise.resolve(stage('authorize validated', { ok: true })),
    hashResult: ({ callKey }, text) => stage('hash', `hash of ${callKey} ${text}`),
    conceal: (_tool, result) => stage('conceal', result),
    bounds: () => Promise.resolve(stage('bounds', { ok: true })),
    approval: () => Promise.resolve(stage('approval', { ok: true })),
    rate: () => Promise.resolve(stage('rate', { ok: true })),
    handOver: () => Promise.resolve(null),
    keepWaiting: () => Promise.reject(new Error('The call waits for no one.')),
    answer: () => {
      throw new Error('The call waits for no one.');
    },
    capabilities: () => Promise.resolve(stage('capabilities', {})),
    once: (_tool, _invocation, effect) => stage('once', effect)(),
    cached: () => Promise.resolve(stage('cached', { kind: 'none', keep: () => void seen.push('keep') })),
    keepAnswer: () => Promise.resolve([]),
    keepResult: () => Promise.resolve(null),
    questions: () => [],
    begun: () => Promise.resolve(null),
    onFault: () => undefined,
    onReconciled: () => undefined,
    onStart: () => void seen.push('start'),
    onParked: () => void seen.push('parked'),
    onResult: () => void seen.push('result'),
    onCancel: () => () => undefined,
    after: (milliseconds, action) => {
      const timer = setTimeout(action, milliseconds);
      return () => clearTimeout(timer);
    },
    limits: { argumentBytes: 8_192, resultBytes: 32_768, contentBytes: 32_768 },
    ...changes,
  };
}

/** The result of a call that nothing parks. */
export async function resultOf(call: ToolInvocation, through: ToolPipeline): Promise<ToolExecResult> {
  const end = await runTool(call, through);
  if (end.kind === 'parked') throw new Error('The call is parked.');
  return end.result;
}
