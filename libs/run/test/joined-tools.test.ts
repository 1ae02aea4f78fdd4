import { describe, expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { beginRun, compileEvaluator, localPrincipal } from '@sluice/core';
import { make } from '@sluice/contracts';
import { decideIteration, namingTools, offeredWithSchema, withConditions, withTools } from '@sluice/run';
import { sampleInputs } from '../../configuration/test/sample-inputs.js';

const { configuration } = compileConfiguration(
  {
    tool: {
      write: { type: 'text-completion', arguments: { prompt: { max_length: 9, pattern: '^a' } } },
      look: { type: 'knowledge-query' },
      plain: { type: 'graph-update' },
    },
    policy: { allowed_tools: ['*'] },
    lists: { contacts: ['ann', 'bob'] },
    rules: {
      teams: { tools: ['look'], arguments: { entity: { one_of: { claim: 'teams' }, required: true } } },
      elsewhere: { tools: ['write'], for: { tenants: ['other'] }, arguments: { prompt: { const: 'x' } } },
      people: { tools: ['write'], arguments: { prompt: { not_one_of: { list: 'contacts' } } } },
    },
  },
  sampleInputs,
);
if (configuration === null) throw new Error('It has mistakes.');
const evaluator = compileEvaluator(configuration);

const ids = { requestId: 'r', sessionId: 's' };
const request = { ...make.agentRequest({ question: 'Q' }), ...ids };
const decided = (teams: readonly string[]) => {
  const begun = beginRun(request, ['default'], 'undefined', configuration.limits, localPrincipal, 1);
  const origin = { channel: 'http', claims: { teams } };
  const run = withConditions(begun, evaluator, { loads: {}, held: [] }, origin);
  const iteration = decideIteration(ids, request, run, evaluator, 2);
  if (iteration.kind === 'end') throw new Error(iteration.response.error?.message);
  return { whole: iteration.record, named: namingTools(iteration.record, iteration.decision, evaluator, null) };
};
const toolsOf = ({ whole }: ReturnType<typeof decided>) =>
  Object.fromEntries(
    whole.tools.map(({ key, inputSchema, schemaHash }) => [key, { inputSchema, schemaHash }] as const),
  );

describe('tools whose arguments are bounded', () => {
  it('are offered with what a schema can say of the bounds, each with a hash of its own', () => {
    const { write, look, plain } = toolsOf(decided(['a', 'b']));
    expect(JSON.parse(write?.inputSchema ?? '')).toEqual({
      type: 'object',
      properties: {
        prompt: { type: 'string', maxLength: 9, pattern: '^a', description: 'None of the list contacts.' },
      },
      required: ['prompt'],
    });
    expect(JSON.parse(look?.inputSchema ?? '')).toEqual({
      type: 'object',
      properties: { entity: { type: 'string', enum: ['a', 'b'] } },
      required: ['entity'],
    });
    const own = (key: string) => evaluator.tool(key)?.spec?.schemaHash;
    expect([plain?.schemaHash, look?.schemaHash === own('look')]).toEqual([own('plain'), false]);
    expect(toolsOf(decided(['c']))['look']?.schemaHash).not.toBe(look?.schemaHash);
    expect(toolsOf(decided(['c']))['write']).toEqual(write);
  });

  it('are made again from the record, which names their hashes', () => {
    const { whole, named } = decided(['a']);
    expect(withTools(named, evaluator).tools).toEqual(whole.tools);
    expect(named.tools.map(({ schemaHash }) => schemaHash)).toEqual(whole.tools.map(({ schemaHash }) => schemaHash));
    expect(named.list?.hash).not.toBe(decided(['b']).named.list?.hash);
  });

  it('are found by their hashes, with the schema of this caller alone', () => {
    const { whole, named } = decided(['a']);
    for (const { id, inputSchema, schemaHash } of whole.tools)
      for (const record of [whole, named])
        expect(
          offeredWithSchema(record, schemaHash, evaluator).map((tool) => [tool.id, tool.spec?.inputSchema]),
        ).toEqual([[id, JSON.parse(inputSchema)]]);
    const look = toolsOf(decided(['b']))['look']?.schemaHash ?? '';
    expect(offeredWithSchema(named, look, evaluator)).toEqual([]);
    expect(offeredWithSchema(named, evaluator.tool('look')?.spec?.schemaHash ?? '', evaluator)).toEqual([]);
  });

  it('are the same objects for equal callers, so that their records share them', () => {
    expect(decided(['a']).whole.tools).toBe(decided(['a']).whole.tools);
  });
});
