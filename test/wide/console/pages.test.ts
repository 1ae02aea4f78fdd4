import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { axeFindings, overflow, startBrowser, watchedPage } from './browser.js';
import type { WatchedPage } from './browser.js';
import { desk, hostileText } from './desk.js';
import type { Desk } from './desk.js';
import { ask, endAll, newLink, served } from './served.js';
import type { Served } from './served.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-pages-'));
/** Where pictures of the pages go, for docs and for eyes. */
const pictures = process.env['SLUICE_PICTURES'];
let browser: Browser;
let desks: Desk;
let system: Served;

beforeAll(async () => {
  desks = await desk(home, 'agents: { support: { description: Helps with orders, groups: [support] } }');
  system = await served(desks.variables, join(home, 'data'));
  browser = await startBrowser();
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
  const questions = ['look-up {"id":"7"}', 'hostile', 'large\nlarge\nlarge\nlarge', hostileText];
  for (const [n, question] of questions.entries()) await ask(system, question, `run-${n}`, { waitSeconds: 50 });
  await ask(system, 'look-up {"id":"8"}', 'run-of-agent', { waitSeconds: 50, agent: 'support' });
  await ask(system, 'look-up {"id":"7"}\nrefund {"id":"7","amount":12.5}', 'run-waits', {});
});
afterAll(async () => {
  await browser.close();
  await endAll();
  await desks.close();
  rmSync(home, { recursive: true, force: true });
});

const addresses = {
  home: '/',
  runs: '/runs',
  'runs-filtered': '/runs?tool=look-up',
  'runs-of-agent': '/runs?agent=support',
  'runs-none': '/runs?user=user%3Anoone',
  run: '/runs/run-0',
  'run-content': '/runs/run-0?tab=content',
  'run-waits': '/runs/run-waits',
  'run-hostile': '/runs/run-1',
  'run-large': '/runs/run-2',
  'run-of-markup': '/runs/run-3',
  'run-unknown': '/runs/no-such-run',
  approvals: '/approvals',
  'approvals-history': '/approvals?tab=history',
  'approvals-standing': '/approvals?tab=standing',
  policy: '/policy',
  'policy-as': '/policy?tab=as',
  'policy-states': '/policy?tab=states',
  'policy-findings': '/policy?tab=findings',
  'policy-versions': '/policy?tab=versions',
  'policy-what-if': '/policy?tab=what-if',
  tools: '/tools',
  tool: '/tools/refund',
  'tool-hostile': '/tools/hostile',
  servers: '/servers',
  schedules: '/schedules',
  notifications: '/notifications',
  audit: '/audit',
  'dead-letters': '/dead-letters',
  'no-page': '/no/such/page',
} as const;

/** A browser of its own that a one-time link has signed in, so that each address opens at once. */
async function signedIn(options: BrowserContextOptions): Promise<WatchedPage> {
  const watched = await watchedPage(await browser.newContext(options), system.base);
  await watched.page.goto(await newLink(system));
  await watched.page.locator('#navigation').waitFor({ state: 'attached' });
  return watched;
}

async function open({ page, wrong }: WatchedPage, path: string): Promise<void> {
  wrong.length = 0;
  await page.goto(system.base + path);
  await page.locator('h1').first().waitFor();
  await page.getByRole('status').filter({ hasText: '…' }).first().waitFor({ state: 'detached' });
  await page.waitForTimeout(400);
}

describe.each(['light', 'dark'] as const)('In %s colours', (colorScheme) => {
  let watched: WatchedPage;
  beforeAll(async () => {
    watched = await signedIn({ colorScheme, viewport: { width: 1360, height: 900 } });
  });
  afterAll(() => watched.page.context().close());

  it.each(Object.entries(addresses))('%s is clean, readable by machines and breaks no policy', async (name, path) => {
    await open(watched, path);
    const { page, wrong } = watched;
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`) });
    expect(wrong).toEqual([]);
    expect(await page.evaluate('window.__ran')).toBeUndefined();
    expect(await page.locator('h1').count()).toBe(1);
    expect(await axeFindings(page)).toEqual([]);
  });
});

describe('On a phone', () => {
  let watched: WatchedPage;
  beforeAll(async () => {
    watched = await signedIn({ viewport: { width: 390, height: 844 }, hasTouch: true });
  });
  afterAll(() => watched.page.context().close());

  it.each(Object.entries(addresses))('%s is no wider than the screen', async (name, path) => {
    await open(watched, path);
    const { page, wrong } = watched;
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}-phone.png`) });
    expect(wrong).toEqual([]);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });
});

describe('On a small laptop', () => {
  let watched: WatchedPage;
  beforeAll(async () => {
    watched = await signedIn({ viewport: { width: 1280, height: 820 } });
  });
  afterAll(() => watched.page.context().close());

  it.each(['home', 'runs', 'runs-of-agent'] as const)('%s shows each column of its runs', async (name) => {
    await open(watched, addresses[name]);
    const { page } = watched;
    await page.getByRole('columnheader', { name: 'Agent' }).waitFor();
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}-laptop.png`) });
    const list = `document.querySelector('[role=region][aria-label$="uns"]')`;
    expect(await page.evaluate(`${list}.scrollWidth - ${list}.clientWidth`)).toBe(0);
  });
});

it('is used by keyboard alone: to a run and back, with the focus in sight', async () => {
  const { page } = await signedIn({});
  const focused = (): Promise<string> => page.evaluate('document.activeElement?.textContent?.trim() ?? ""');
  await page.locator('body').press('Tab');
  expect(await focused()).toBe('Skip to the page');
  for (let n = 0; n < 12 && (await focused()) !== 'Runs'; n++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/runs');
  const link = page.locator('a[href^="/runs/run-0"]').first();
  await link.waitFor();
  const reached = page.locator('a[href^="/runs/run-0"]:focus-visible');
  for (let n = 0; n < 60 && (await reached.count()) === 0; n++) await page.keyboard.press('Tab');
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/runs/run-0**');
  await page.context().close();
});
