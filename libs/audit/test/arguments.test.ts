import { describe, expect, it } from '@jest/globals';
import { recordFromJson, sha256 } from '@sluice/contracts';
import type { AgentStepResult } from '@sluice/contracts';
import { entriesOf } from '@sluice/audit';
import type { Source } from '@sluice/audit';
import { response } from './recorded.js';

const run = {
  ...{ iteration: 1, max_iterations: 8, started_at: 1, deadline: 9 },
  ...{ initial_state: 'undefined', state_entered_at: 1, requested_groups: [] },
};

/** The arguments and their hash in the entry of a call of a tool whose `pin` is secret. */
function recorded(args: string): unknown {
  const step = {
    ...{ action: 'memo_delete', arguments: args, observation: 'done', outcome: 'ok', state: 'undefined' },
    ...{ tool_call_id: 'c', iteration: 1, started_at: 1, ended_at: 2 },
  };
  const record = recordFromJson('AgentStepResult', {
    ...{ request_id: 'r', session_id: 's', iteration: 1, config_version: 'c-1', steps: [step] },
    ...{ next: { request_id: 'r', session_id: 's', question: 'Go' }, run },
  }) as AgentStepResult;
  const inputSchema = { type: 'object', properties: { pin: { type: 'integer', writeOnly: true } } };
  const tools = (): { id: string; groups: string[]; inputSchema: typeof inputSchema } => ({
    id: 'mcp__made__memo_delete',
    groups: [],
    inputSchema,
  });
  const source = { ...response(0, ''), topic: 'agent.steps', record } as Source;
  const [entry] = entriesOf(source, { tools, authentic: true });
  const details = JSON.parse(entry?.details ?? '{}') as Record<string, unknown>;
  return { arguments: details['arguments'], hash: details['arguments_hash'] };
}

describe('the arguments in an entry', () => {
  it.each([
    '{"id":725653563933458433}',
    '{"list":[1.0,1e2,-0,1e400,0.10000000000000000555]}',
    '{"id":"725653563933458433","code":"007","exponent":"1e5"}',
  ])('%s stand there as the model wrote them', (args) => {
    expect(recorded(args)).toEqual({ arguments: args, hash: sha256(args) });
  });

  it('are without secrets, whatever number the secret is', () => {
    const args = '{"id":725653563933458433,"pin":725653563933458433}';
    expect(recorded(args)).toEqual({ arguments: '{"id":725653563933458433,"pin":"[redacted]"}', hash: sha256(args) });
  });
});
