import { listAt, type Screening } from '../../screen/screen.js';
import { merged } from '../../screen/whole.js';
import { isSearch, restoreTools } from './screen.js';

export function mergeAnswers(bodies: readonly string[], screening: Screening): string {
  return merged(bodies, (answers, last) => {
    last['output'] = answers.flatMap((one) => listAt(one, 'output').filter((item) => !isSearch(item, screening)));
    restoreTools(last, screening);
  });
}
