import { Page } from '../../ui/page.js';

export function Home() {
  return <Page title="Home">{null}</Page>;
}
