import { describe, expect, it } from '@jest/globals';
import type { Toolset } from '@sluice/contracts';
import { directTurn } from '@sluice/run';

const evaluator = {
  tool: (name: string) => (name === 'clock' ? { id: 'core__clock' } : undefined),
} as unknown as Parameters<typeof directTurn>[1];
const toolset = (iteration: number, call: object | null, history: readonly object[] = []) =>
  ({ iteration, request: { call, history } }) as unknown as Toolset;
const call = { tool: 'clock', arguments: '{"zone"' };

describe('a request that makes one call itself', () => {
  it('makes it in its first turn, with the tool’s id and the arguments as they were written', () => {
    const made = { toolCallId: 'call-0', tool: 'core__clock', arguments: '{"zone"' };
    expect(directTurn(toolset(1, call), evaluator)).toMatchObject({ calls: [made], answer: null, inputTokens: 0 });
    const unknown = directTurn(toolset(1, { ...call, tool: 'clok' }), evaluator);
    expect(unknown?.calls).toMatchObject([{ tool: 'clok' }]);
  });

  it('makes it also where the request brought steps of an earlier run', () => {
    expect(directTurn(toolset(1, call, [{ observation: 'of before' }]), evaluator)?.calls).toHaveLength(1);
  });

  it('answers with its result, and calls nothing more', () => {
    const turn = (observation: string) => directTurn(toolset(2, call, [{ observation }]), evaluator);
    expect(turn('{"time":1}')).toMatchObject({ calls: [], answer: '{"time":1}' });
    expect(turn('')).toMatchObject({ calls: [], answer: 'Done.' });
  });

  it('is no other request: those ask the model', () => {
    expect(directTurn(toolset(1, null), evaluator)).toBeNull();
  });
});
