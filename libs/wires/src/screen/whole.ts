import { type JsonObject, type JsonValue, parseExactJson } from '@sluice/core';
import type { WireName } from '../types.js';
import { isSearch, restoreTools } from './responses.js';
import { addUsage, listAt, objectAt, type RoundEnd, type Screening } from './screen.js';

type Answer = Record<string, JsonValue>;

/** The answers of all rounds, which came whole, as one without the search tool. */
export function mergeAnswers(
  wire: WireName,
  bodies: readonly string[],
  screening: Screening,
  { hasCalls }: RoundEnd,
): string {
  const answers = bodies.map((body) => parseExactJson(body) as Answer);
  const last = answers.at(-1);
  if (last === undefined) throw new Error('There is no answer.');
  const usages = answers.map((answer) => answer['usage']);
  if (last['usage'] !== undefined) last['usage'] = usages.reduce(addUsage) ?? null;
  const { searchTool } = screening;
  switch (wire) {
    case 'openai-chat':
      mergeChat(answers, last, searchTool, hasCalls);
      break;
    case 'openai-responses':
      last['output'] = answers.flatMap((one) => listAt(one, 'output').filter((item) => !isSearch(item, screening)));
      restoreTools(last, screening);
      break;
    case 'anthropic':
    case 'bedrock-anthropic':
      last['content'] = answers.flatMap((one) =>
        listAt(one, 'content').filter((block) => block['type'] !== 'tool_use' || block['name'] !== searchTool),
      );
      if (last['stop_reason'] === 'tool_use' && !hasCalls) last['stop_reason'] = 'end_turn';
      break;
    case 'bedrock': {
      const message = objectAt(objectAt(last, 'output'), 'message');
      const blocks = answers.flatMap((one) => listAt(objectAt(objectAt(one, 'output'), 'message'), 'content'));
      if (message !== null)
        message['content'] = blocks.filter((block) => objectAt(block, 'toolUse')?.['name'] !== searchTool);
      if (last['stopReason'] === 'tool_use' && !hasCalls) last['stopReason'] = 'end_turn';
      break;
    }
    case 'gemini':
      break;
  }
  return JSON.stringify(last);
}

function mergeChat(answers: readonly Answer[], last: Answer, searchTool: string | null, hasCalls: boolean): void {
  const messages = answers.map((answer) => objectAt(listAt(answer, 'choices')[0], 'message'));
  const [choice] = listAt(last, 'choices') as Answer[];
  const message = messages.at(-1);
  if (choice === undefined || message === undefined || message === null) return;
  const said = messages.map((one) => one?.['content']).filter((text): text is string => typeof text === 'string');
  if (said.length > 0) message['content'] = said.join('');
  const calls = listAt(message, 'tool_calls').filter((call) => nameOf(call) !== searchTool);
  if (calls.length > 0) message['tool_calls'] = calls;
  else delete message['tool_calls'];
  if (choice['finish_reason'] === 'tool_calls' && !hasCalls) choice['finish_reason'] = 'stop';
  for (const name of ['id', 'created']) {
    const first = answers[0]?.[name];
    if (first !== undefined) last[name] = first;
  }
}

function nameOf(call: JsonObject): JsonValue | undefined {
  return objectAt(call, 'function')?.['name'];
}
