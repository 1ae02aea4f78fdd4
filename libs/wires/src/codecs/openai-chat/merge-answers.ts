import type { JsonObject, JsonValue } from '@sluice/core';
import { listAt, objectAt, type RoundEnd, type Screening } from '../../screen/screen.js';
import { type Answer, merged } from '../../screen/whole.js';

export function mergeAnswers(bodies: readonly string[], { searchTool }: Screening, { hasCalls }: RoundEnd): string {
  return merged(bodies, (answers, last) => {
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
  });
}

function nameOf(call: JsonObject): JsonValue | undefined {
  return objectAt(call, 'function')?.['name'];
}
