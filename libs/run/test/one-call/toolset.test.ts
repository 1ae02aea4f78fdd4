import { describe, expect, it } from '@jest/globals';
import { make } from '@sluice/contracts';
import type { AgentStepResult, ToolCall } from '@sluice/contracts';
import { ownCallIn } from '../../src/index.js';

const ids = { requestId: 'r', sessionId: 's', configVersion: 'c-1', run: {}, call: { groups: [] } };
const asked = (call: object | null) => ({ call, history: [], state: null });
const turn = (call: object | null) => ({ ...ids, request: asked(call) }) as unknown as ToolCall;
const step = (call: object | null) => ({ ...ids, next: asked(call), steps: [] }) as unknown as AgentStepResult;

describe('what a record says of the call of its request', () => {
  it('is nothing where the request makes none, whatever the record says: it may be forged', () => {
    const call = make.directCall({ tool: 'core__act', arguments: '{}' });
    for (const record of [turn(null), step(null), { ...turn(call), call: null }]) expect(ownCallIn(record)).toBeNull();
    for (const record of [turn(call), step(call)]) expect(ownCallIn(record)?.request.call).toEqual(call);
  });
});
