import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { axeFindings, startBrowser, watchedPage } from './browser.js';
import { endAll, served } from './served.js';
import type { Served } from './served.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-newcomer-'));
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
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.waitForURL('**/runs/*');
  const asked = page.url();
  await page.getByText('Austria, France, Germany, Italy and Liechtenstein', { exact: false }).first().waitFor();

  // Sees why a tool was hidden.
  const verdicts = page.getByRole('region', { name: /verdict/i });
  await verdicts.getByText('graph-update').first().waitFor();
  await verdicts.getByText(/state/).first().waitFor();

  // Edits a rule: what changes something asks first. Sees which decisions differ, and puts it in force.
  await menu.getByRole('link', { name: 'Policy', exact: true }).click();
  await page.getByRole('tab', { name: 'What-if' }).click();
  const editor = page.getByRole('textbox', { name: 'Configuration' });
  await editor.waitFor();
  await editor.press('Control+Home');
  const text = await inForce();
  await editor.press('Control+a');
  await page.keyboard.insertText(text.replace(/approval: \{ none: [^}]*\}/, "approval: { approvers: ['*'] }"));
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('reset-workflow').first().waitFor();
  await page.getByRole('link', { name: new URL(asked).pathname.split('/')[2] ?? '' }).first().waitFor();
  await page.getByRole('button', { name: 'Put in force' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Put in force' }).click();
  await page.getByText('It is in force.').waitFor();

  // Asks again, and approves the call that now waits.
  await menu.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.waitForURL('**/runs/*');
  const second = page.url();
  await menu.getByRole('link', { name: /^Approvals/ }).click();
  await page.getByRole('button', { name: /^Approve/ }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: /^Approve/ }).click();
  await page.goto(second);
  await page.getByText('Done: reset the workflow.', { exact: false }).first().waitFor();

  expect(await axeFindings(page)).toEqual([]);
  expect(wrong).toEqual([]);
});

/** The configuration in force, as text. */
async function inForce(): Promise<string> {
  const response = await fetch(`${system.base}/v1/configurations/current`, {
    headers: { authorization: `Bearer ${system.secret()}` },
  });
  const { text } = (await response.json()) as { readonly text: string };
  return text;
}
