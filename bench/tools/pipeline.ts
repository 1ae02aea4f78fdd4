import { allowed, compileEvaluator, effectOnce, eligible } from '@sluice/core';
import type { Configuration, ToolInvocation, ToolPipeline, ToolSource } from '@sluice/core';
import { createSignatures, newKeySet } from '@sluice/identity';

const signatures = createSignatures(newKeySet(0));

/** The stages as the executor has them, but for the grant's signature and an outside authorizer. */
export function pipelineFor(configuration: Configuration, source: ToolSource): ToolPipeline {
  const evaluator = compileEvaluator(configuration);
  const judges = { granting: evaluator, inForce: evaluator };
  const facts = {
    groups: ['default'],
    state: 'undefined',
    offered: new Set(configuration.policy.allowedTools),
    calls: {},
    toolChoice: null,
    completed: false,
    depth: 0,
    connections: [],
  };
  const noLedger = (): never => {
    throw new Error('A read-only tool claims nothing.');
  };
  return {
    source,
    eligible: (toolId) => eligible(toolId, facts, judges),
    allowed: (toolId) => allowed(toolId, facts, judges),
    authorize: () => Promise.resolve({ ok: true }),
    connection: () => Promise.resolve({ ok: true }),
    authorizeValidated: () => Promise.resolve({ ok: true }),
    hashResult: (invocation, json) => signatures.keyedHash('executor', `${invocation.callKey}\n${json}`),
    bounds: () => Promise.resolve({ ok: true }),
    approval: () => Promise.resolve({ ok: true }),
    rate: () => Promise.resolve({ ok: true }),
    handOver: () => Promise.resolve(null),
    keepWaiting: () => Promise.reject(new Error('The call waits for no one.')),
    answer: () => {
      throw new Error('The call waits for no one.');
    },
    capabilities: (tool, invocation, signal) =>
      Promise.resolve(
        Object.fromEntries(
          tool.capabilities.map((name) => [name, name === 'cancellation' ? { signal } : { key: invocation.callKey }]),
        ),
      ),
    conceal: (_tool, result) => result,
    once: (tool, invocation, effect, ask) =>
      effectOnce(
        tool,
        invocation,
        {
          ledger: {
            claim: noLedger,
            find: noLedger,
            settle: noLedger,
            release: noLedger,
            sweep: noLedger,
            close: noLedger,
          },
          clock: { now: () => Date.now() },
          owner: 'bench',
          retentionMs: 1,
          isAgain: false,
          sleep: noLedger,
          onUnsettled: noLedger,
        },
        effect,
        ask,
      ),
    cached: () => Promise.resolve({ kind: 'none', keep: () => undefined }),
    keepAnswer: () => Promise.resolve([]),
    keepResult: () => Promise.resolve(null),
    questions: () => [],
    begun: () => Promise.resolve(null),
    onFault: () => undefined,
    onReconciled: () => undefined,
    onStart: (_, args) => void JSON.stringify(args),
    onParked: () => undefined,
    onResult: (_, result) => void JSON.stringify(result),
    onCancel: () => () => undefined,
    after: (milliseconds, action) => {
      const timer = setTimeout(action, milliseconds);
      return () => clearTimeout(timer);
    },
    limits: { argumentBytes: 8_192, resultBytes: 32_768, contentBytes: 32_768 },
  };
}

let count = 0;

/** As of a record of its own: what was under way is given up by record. */
export function invocationOf(toolId: string, args: ToolInvocation['args']): ToolInvocation {
  const toolCallId = `call-${count++}`;
  return {
    toolId,
    args,
    argumentBytes: 1_024,
    context: { runId: 'run', sessionId: 'session', toolCallId, actorId: 'user:bench', tenantId: 'bench' },
    callKey: toolCallId,
    timeoutMs: 30_000,
    signal: new AbortController().signal,
  };
}
