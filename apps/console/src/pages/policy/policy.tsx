import { Page } from '../../ui/page.js';

export function Policy() {
  return <Page title="Policy">{null}</Page>;
}
