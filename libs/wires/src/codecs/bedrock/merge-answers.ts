import { listAt, objectAt, type RoundEnd, type Screening } from '../../screen/screen.js';
import { merged } from '../../screen/whole.js';

export function mergeAnswers(bodies: readonly string[], { searchTool }: Screening, { hasCalls }: RoundEnd): string {
  return merged(bodies, (answers, last) => {
    const message = objectAt(objectAt(last, 'output'), 'message');
    const blocks = answers.flatMap((one) => listAt(objectAt(objectAt(one, 'output'), 'message'), 'content'));
    if (message !== null)
      message['content'] = blocks.filter((block) => objectAt(block, 'toolUse')?.['name'] !== searchTool);
    if (last['stopReason'] === 'tool_use' && !hasCalls) last['stopReason'] = 'end_turn';
  });
}
