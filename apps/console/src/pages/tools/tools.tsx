import { Page } from '../../ui/page.js';

export function Tools() {
  return <Page title="Tools">{null}</Page>;
}
