import { Page } from '../../ui/page.js';

export function Servers() {
  return <Page title="Servers">{null}</Page>;
}
