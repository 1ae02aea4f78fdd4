import type { ModelRequest, ModelStep } from '@sluice/core';

/** A request with everything that the test does not care about filled in. */
export function requestOf(request: Partial<ModelRequest>): ModelRequest {
  return {
    instructions: '',
    question: 'Which countries border Switzerland?',
    state: 'undefined',
    history: [],
    tools: [],
    toolChoice: { type: 'auto' },
    ...request,
  };
}

/** A successful step with everything that the test does not care about filled in. */
export function stepOf(step: Partial<ModelStep> & { readonly toolId: string }): ModelStep {
  return {
    thought: '',
    action: step.toolId.split('__').at(-1) ?? step.toolId,
    arguments: '{}',
    observation: '',
    outcome: 'ok',
    reason: null,
    stateBefore: 'undefined',
    state: 'undefined',
    toolCallId: 'a',
    iteration: 0,
    index: 0,
    startedAt: 0,
    endedAt: 0,
    resultHash: null,
    content: [],
    questions: [],
    rule: null,
    facts: {},
    agentRun: null,
    providerData: null,
    cachedAt: null,
    documentation: null,
    edited: null,
    ...step,
  };
}
