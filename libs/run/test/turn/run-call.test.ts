import { describe, expect, it } from '@jest/globals';
import { recordFromJson } from '@sluice/contracts';
import type { ToolCall } from '@sluice/contracts';
import { invocationOf } from '@sluice/run';
import type { CallInTurn } from '@sluice/run';

const principal = { actor_id: 'user:ann', tenant_id: 'acme', subject_id: null, groups: ['*'], connections: ['*'] };
const run = {
  ...{ iteration: 1, max_iterations: 5, started_at: 0, deadline: 1_000, initial_state: 'undefined' },
  ...{ state_entered_at: 0, requested_groups: ['*'], principal },
};

describe('a call as the pipeline takes it', () => {
  it.each([
    ['{"q":"plain"}', 13],
    ['{"q":"€"}', 11],
    ['{"q":"😀"}', 12],
  ])('counts the arguments %s in UTF-8 bytes', (text, bytes) => {
    const call = { toolCallId: 'one', tool: 'core__find', arguments: text, argumentsBytes: null, providerData: null };
    const record = recordFromJson('ToolCall', {
      ...{ request_id: 'r', session_id: 's', iteration: 1, calls: [], groups: ['*'], config_version: 'c-1' },
      ...{ request: { question: 'Go' }, run },
    }) as ToolCall;
    const { signal } = new AbortController();
    const judges = { granting: { byId: () => undefined } } as unknown as CallInTurn['judges'];
    const turn = { state: 'undefined', bytes: 0, calls: {}, answer: null, did: null };
    const of = { record, name: 'r', call, index: 0, offered: new Set<string>(), turn, steps: [], judges, at: 0 };
    expect(invocationOf(of, JSON.parse(text), 1_000, signal).argumentBytes).toBe(bytes);
  });
});
