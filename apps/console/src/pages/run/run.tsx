import { Page } from '../../ui/page.js';

export function RunPage() {
  return <Page title="Run">{null}</Page>;
}
