import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { axeFindings, startBrowser, watchedPage } from './browser.js';
import { endAll, served } from './served.js';
import type { Served } from './served.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-newcomer-'));
const sample = /Which countries border Switzerland/;
let browser: Browser;
let system: Served;

beforeAll(async () => {
  system = await served({}, join(home, 'data'));
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await endAll();
  rmSync(home, { recursive: true, force: true });
});

it('leads a newcomer from the printed link to an approved call and a changed rule, without a page of docs', async () => {
  const { page, wrong } = await watchedPage(await browser.newContext(), system.base);
  const menu = page.getByRole('navigation', { name: 'Pages' });

  // The address that `npm start` prints signs in, once, and leaves no code in the address.
  await page.goto(system.link);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  expect(page.url()).not.toContain('sign-in');

  // Asks the sample question, and watches.
  const askSample = async (): Promise<string> => {
    await menu.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('button', { name: sample }).click();
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.waitForURL('**/runs/*');
    return page.url();
  };
  const first = await askSample();
  await page.getByText('Austria, France, Germany, Italy and Liechtenstein', { exact: false }).first().waitFor();

  // Sees why a tool was hidden.
  await page.getByRole('tab', { name: 'Tools at each iteration' }).click();
  const verdicts = page.getByRole('region', { name: 'Tools at each iteration' });
  await verdicts
    .getByRole('row', { name: /graph-update/ })
    .getByRole('button')
    .first()
    .click();
  await page.getByText('It is available in the state', { exact: false }).first().waitFor();

  // Edits a rule, so that a tool that changes something asks first. Sees which decisions differ; puts it in force.
  await menu.getByRole('link', { name: 'Policy', exact: true }).click();
  await page.getByRole('tab', { name: 'What-if' }).click();
  const editor = page.getByRole('textbox', { name: 'Configuration' });
  await editor.click();
  await page.keyboard.press('Control+End');
  await editor.locator('.cm-line', { hasText: 'approval: { none' }).click();
  for (const key of ['End', 'Shift+Home', 'Shift+Home', 'Delete']) await page.keyboard.press(key);
  await page.keyboard.type("  approval: { approvers: ['*'] }");
  await page.getByRole('button', { name: 'See what would be otherwise' }).click();
  const differing = page.getByRole('region', { name: 'Decisions that would be otherwise' });
  await differing
    .getByRole('row', { name: /reset-workflow/ })
    .getByRole('link')
    .first()
    .waitFor();
  await page.getByRole('button', { name: /^Apply it now/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Put it in force' }).click();
  await page.getByText(/is in force\. Its text is kept in/).waitFor();

  // Asks again, and approves the call that now waits.
  const second = await askSample();
  expect(second).not.toBe(first);
  await menu.getByRole('link', { name: /^Approvals/ }).click();
  await page
    .getByRole('button', { name: /^Approve/ })
    .first()
    .click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Approve/ })
    .click();
  await page.goto(second);
  await page.getByText('Done: reset the workflow.', { exact: false }).first().waitFor();

  // Before axe, which adds a style of its own.
  expect(wrong).toEqual([]);
  expect(await axeFindings(page)).toEqual([]);
});
