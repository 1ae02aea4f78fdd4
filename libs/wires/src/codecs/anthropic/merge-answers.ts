import { listAt, type RoundEnd, type Screening } from '../../screen/screen.js';
import { merged } from '../../screen/whole.js';

export function mergeAnswers(bodies: readonly string[], { searchTool }: Screening, { hasCalls }: RoundEnd): string {
  return merged(bodies, (answers, last) => {
    last['content'] = answers.flatMap((one) =>
      listAt(one, 'content').filter((block) => block['type'] !== 'tool_use' || block['name'] !== searchTool),
    );
    if (last['stop_reason'] === 'tool_use' && !hasCalls) last['stop_reason'] = 'end_turn';
  });
}
