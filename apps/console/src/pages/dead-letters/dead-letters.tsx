import { Page } from '../../ui/page.js';

export function DeadLetters() {
  return <Page title="Dead letters">{null}</Page>;
}
