import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type FoundRounds, keptRounds, withHiddenRounds } from '@sluice/proxy';
import { decodeTurn, type PartKey, type ResultPart, type Round, type WireName } from '@sluice/wires';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A store that knows one answer; without `text` its rounds are gone. */
function storeOf(rounds: readonly Round[], hasText = true): (key: PartKey) => Promise<FoundRounds | null> {
  const kept = keptRounds(rounds, digest);
  if (kept === null) throw new Error('Nothing in them is bound.');
  const known = new Set(kept.keys.map(({ text }) => text));
  const found = { mark: kept.mark, text: hasText ? kept.text : null };
  return ({ text }) => Promise.resolve(known.has(text) ? found : null);
}

const result = (toolCallId: string): ResultPart => ({
  ...{ type: 'result', toolCallId, name: 'search', text: 'found', isError: false },
});

const round = (wire: WireName, turn: object, ...hidden: string[]): Round => ({
  parts: decodeTurn(wire, JSON.stringify(turn)).parts,
  results: hidden.map(result),
});

const chatCall = (id: string, name: string, more: object = {}): object => ({
  ...{ id, type: 'function', function: { name, arguments: '{}' } },
  ...more,
});
const chatTurn = (message: object): object => ({
  id: 't',
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
});
const chatTools = [{ type: 'function', function: { name: 'a' } }];

describe('the rounds of an answer', () => {
  it('of Gemini behind Chat have the signature that stood at a hidden call', async () => {
    const signed = { extra_content: { google: { thought_signature: 'c2ln' } } };
    const calls = [chatCall('s1', 'search', signed), chatCall('c1', 'a')];
    const find = storeOf([
      round('openai-chat', chatTurn({ role: 'assistant', content: null, tool_calls: calls }), 's1'),
    ]);
    const messages = [
      { role: 'user', content: 'Q' },
      { role: 'assistant', content: null, tool_calls: [calls[1]] },
      { role: 'tool', tool_call_id: 'c1', content: 'r' },
    ];
    const body = JSON.stringify({ model: 'm', messages, tools: chatTools });
    const restored = JSON.parse((await withHiddenRounds('openai-chat', body, find, digest)) ?? '{}') as {
      messages: object[];
    };
    expect(restored.messages.slice(1)).toEqual([
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 's1', content: 'found' },
      messages[2],
    ]);
  });

  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [1, 2].map((n) => ({ type: 'summary_text', text: `part ${String(n)}` })),
    encrypted_content: 'e1',
  };
  const responses = [
    round(
      'openai-responses',
      {
        id: 'r1',
        model: 'm',
        status: 'completed',
        output: [thought, { type: 'function_call', id: 'fc_1', call_id: 's1', name: 'search', arguments: '{}' }],
      },
      's1',
    ),
    round('openai-responses', {
      id: 'r2',
      model: 'm',
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'msg_2',
          role: 'assistant',
          content: [{ type: 'output_text', text: ' Done.\n', annotations: [] }],
        },
      ],
    }),
  ];
  const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] };
  const input = (...items: object[]): string =>
    JSON.stringify({
      model: 'm',
      input: [{ role: 'user', content: 'Q' }, ...items, { role: 'user', content: 'Next' }],
      tools: [{ type: 'function', name: 'a' }],
    });
  const itemsIn = (body: string | null): readonly Record<string, unknown>[] =>
    (JSON.parse(body ?? '{"input":[]}') as { input: Record<string, unknown>[] }).input.slice(1, -1);

  it.each([
    ['as they came', thought],
    ['without their ids, as Codex sends them', { ...thought, id: undefined }],
  ])('of Responses have each part of a thought, where the items come back %s', async (_, back) => {
    const items = itemsIn(await withHiddenRounds('openai-responses', input(back, said), storeOf(responses), digest));
    expect(items[0]).toEqual(thought);
    expect(items.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call_output', 'message']);
  });

  it.each([
    ['are gone', storeOf(responses, false), said],
    [
      'are not of what the client sends',
      storeOf(responses),
      { ...said, content: [{ type: 'output_text', text: 'Other.' }] },
    ],
  ])('leave no orphan where they %s', async (_, find, message) => {
    const items = itemsIn(await withHiddenRounds('openai-responses', input(thought, message), find, digest));
    expect(items).toEqual([message]);
  });

  it('change nothing in a request whose thoughts are its own, or that has none', async () => {
    const find = storeOf(responses);
    const other = { ...thought, id: 'rs_9', encrypted_content: 'e9' };
    expect(await withHiddenRounds('openai-responses', input(other, said), find, digest)).toBeNull();
    expect(await withHiddenRounds('openai-responses', input(said), find, digest)).toBeNull();
    expect(await withHiddenRounds('gemini', '{"contents":[]}', find, digest)).toBeNull();
  });

  it('are not kept where nothing in them is signed', () => {
    const plain = chatTurn({ role: 'assistant', content: null, tool_calls: [chatCall('s1', 'search')] });
    expect(keptRounds([round('openai-chat', plain, 's1')], digest)).toBeNull();
  });
});
