import { Page } from '../../ui/page.js';

export function Runs() {
  return <Page title="Runs">{null}</Page>;
}
