import { Page } from '../../ui/page.js';

export function Audit() {
  return <Page title="Audit">{null}</Page>;
}
