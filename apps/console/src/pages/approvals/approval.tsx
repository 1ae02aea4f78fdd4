import { Page } from '../../ui/page.js';

export function ApprovalPage() {
  return <Page title="Approval">{null}</Page>;
}
