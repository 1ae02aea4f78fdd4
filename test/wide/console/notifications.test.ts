import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { eventually } from '../../harness/eventually.js';
import { eventOf, startReceiver } from '../../notifications/receiver.js';
import type { Receiver } from '../../notifications/receiver.js';
import { axeFindings, overflow, startBrowser, watchedPage } from './browser.js';
import type { WatchedPage } from './browser.js';
import { desk } from './desk.js';
import type { Desk } from './desk.js';
import { ask, endAll, newLink, served } from './served.js';
import type { Served } from './served.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-notified-'));
/** Where pictures go, for docs and for eyes. */
const pictures = process.env['SLUICE_PICTURES'];
let browser: Browser;
let desks: Desk;
let system: Served;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  const more = `agents: { support: { description: Helps with orders, groups: [support] } }
notify:
  base_url: https://sluice.example.org
  private_hosts: ['${receiver.host}']
`;
  desks = await desk(home, more);
  system = await served(desks.variables, join(home, 'data'));
  browser = await startBrowser();
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await endAll();
  await desks.close();
  await receiver.close();
  rmSync(home, { recursive: true, force: true });
});

async function opened(options: BrowserContextOptions): Promise<WatchedPage> {
  const watched = await watchedPage(await browser.newContext(options), system.base);
  await watched.page.goto(await newLink(system));
  await watched.page.locator('#navigation').waitFor({ state: 'attached' });
  await watched.page.goto(`${system.base}/notifications`);
  await watched.page.getByRole('heading', { name: 'Notifications', level: 1 }).waitFor();
  return watched;
}

async function look({ page, wrong }: WatchedPage, name: string): Promise<void> {
  await page.waitForTimeout(400);
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `notifications-${name}.png`) });
  expect(wrong).toEqual([]);
  // Behind a dialog the page itself is hidden, with its heading and its landmarks.
  const ofPage = /^(landmark-one-main|page-has-heading-one):/;
  expect((await axeFindings(page)).filter((finding) => !ofPage.test(finding))).toEqual([]);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
}

async function secretShown(page: Page): Promise<string> {
  const secret = (await page.getByRole('region', { name: 'Secret of desk' }).textContent()) ?? '';
  await page.getByRole('button', { name: 'I have it' }).click();
  return secret;
}

it('lets an operator make a subscription, change it, give it another secret and delete it', async () => {
  const watched = await opened({ viewport: { width: 1280, height: 820 } });
  const { page } = watched;
  await page.getByText('No one is notified.').waitFor();
  await page.getByRole('button', { name: 'Make a subscription' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('desk');
  await dialog.getByLabel('Address').fill('http://10.0.0.1/');
  await dialog.getByText('run.ended', { exact: true }).click();
  await dialog.getByLabel('Agents (optional)').fill('support');
  await dialog.getByRole('button', { name: 'Make it' }).click();
  await dialog.getByRole('alert').getByText('url must be https').waitFor();
  await dialog.getByLabel('Address').fill(receiver.url('/desk'));
  await look(watched, 'make');
  await dialog.getByRole('button', { name: 'Make it' }).click();
  await page.getByRole('region', { name: 'Secret of desk' }).waitFor();
  await look(watched, 'secret');
  const first = await secretShown(page);
  expect(await page.content()).not.toContain(first);

  // What is sent is signed by the secret that was shown, and is of that agent alone.
  await page.getByRole('cell', { name: 'desk', exact: true }).waitFor();
  await ask(system, 'look-up {"id":"7"}', 'run-of-default', { waitSeconds: 50 });
  const event = await eventually(
    async () => {
      await ask(system, 'look-up {"id":"8"}', `run-${String(Math.random()).slice(2)}`, {
        ...{ waitSeconds: 50, agent: 'support' },
      });
      return receiver.at('/desk')[0];
    },
    (one) => one !== undefined,
  );
  expect(event && eventOf(event, first).data?.['agent']).toBe('support');
  await page.getByRole('button', { name: 'Deliveries of desk' }).click();
  await page.getByRole('cell', { name: 'received' }).first().waitFor();
  await look(watched, 'list');

  await page.getByRole('button', { name: 'New secret for desk' }).click();
  await page.getByRole('button', { name: 'Give it one' }).click();
  const second = await secretShown(page);
  expect(second).not.toBe(first);
  await page.getByRole('button', { name: 'Change desk' }).click();
  await dialog.getByText('run.failed', { exact: true }).click();
  await dialog.getByLabel('Agents (optional)').fill('');
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await page.getByRole('cell', { name: 'run.ended, run.failed' }).waitFor();
  const last = await eventually(
    async () => {
      await ask(system, 'look-up {"id":"9"}', `run-${String(Math.random()).slice(2)}`, { waitSeconds: 50 });
      return receiver.at('/desk').at(-1);
    },
    (one) => one?.headers['webhook-signature']?.includes(' ') === true && one.body.includes('"agent":"default"'),
  );
  for (const secret of [first, second]) expect(last && eventOf(last, secret).type).toBe('sluice.run.ended');
  expect(receiver.at('/desk').map(({ body }) => body)).not.toContainEqual(expect.stringContaining('run-of-default'));

  await page.getByRole('button', { name: 'Delete desk' }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('No one is notified.').waitFor();
  await page.context().close();
}, 180_000);

it('has a form that fits a phone, in the dark too', async () => {
  const watched = await opened({ viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: 'dark' });
  await watched.page.getByRole('button', { name: 'Make a subscription' }).click();
  await watched.page.getByRole('dialog').waitFor();
  await look(watched, 'phone');
  await watched.page.context().close();
});
