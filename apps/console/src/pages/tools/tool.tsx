import { Page } from '../../ui/page.js';

export function ToolPage() {
  return <Page title="Tool">{null}</Page>;
}
