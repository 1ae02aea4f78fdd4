import { Page } from '../../ui/page.js';

export function Approvals() {
  return <Page title="Approvals">{null}</Page>;
}
