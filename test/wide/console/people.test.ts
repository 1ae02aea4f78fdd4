import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { sluice } from '../../harness/program.js';
import { startBrowser, watchedPage } from './browser.js';
import { desk } from './desk.js';
import type { Desk } from './desk.js';
import { ask, endAll, served, signInBy } from './served.js';
import type { Served } from './served.js';

const home = mkdtempSync(join(tmpdir(), 'sluice-people-'));
const data = join(home, 'data');
let browser: Browser;
let desks: Desk;
let system: Served;
const keys: Record<string, string> = {};

/** An API key, as an operator makes it. */
async function keyFor(name: string): Promise<string> {
  const made = sluice(['keys', 'api', 'new', name, '--tenant', 'acme', '--groups', 'read,write,support'], {
    ...desks.variables,
    SLUICE_DATA: data,
  });
  const { code, output, errors } = await made.ended;
  const key = /\bslk_\S+|\bsluice_\S+/.exec(output)?.[0];
  if (code !== 0 || key === undefined) throw new Error(`No key: ${output}${errors}`);
  return key;
}

async function pageOf(name: string, path: string): Promise<Page> {
  const { page } = await watchedPage(await browser.newContext(), system.base);
  await signInBy(page, system.base, keys[name] ?? '', path);
  return page;
}

beforeAll(async () => {
  desks = await desk(
    home,
    "identity: { provider: api-keys, operators: [{ principals: ['service:olga'], tenants: [acme] }] }",
  );
  system = await served(desks.variables, data);
  browser = await startBrowser();
  for (const name of ['ann', 'bob', 'olga']) keys[name] = await keyFor(name);
});
afterAll(async () => {
  await browser.close();
  await endAll();
  await desks.close();
  rmSync(home, { recursive: true, force: true });
});

const refund = (n: number): string => `look-up {"id":"${n}"}\nrefund {"id":"${n}","amount":20}`;

describe('Several people', () => {
  it('see in one browser what another decided, and the run goes on', async () => {
    const ann = await pageOf('ann', '/approvals');
    const bob = await pageOf('bob', '/approvals');
    await ask(system, refund(1), 'of-bob', { credential: keys['bob'] ?? '' });
    for (const page of [ann, bob]) await page.getByText('refund', { exact: false }).first().waitFor();
    await bob
      .getByRole('button', { name: /^Approve/ })
      .first()
      .click();
    await bob
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await ann.getByText('service:bob', { exact: false }).first().waitFor();
    await signInBy(bob, system.base, keys['bob'] ?? '', '/runs/of-bob');
    await bob.getByText('refunded 1').first().waitFor();
    await ann.context().close();
    await bob.context().close();
  });

  it('see nothing that is for operators alone', async () => {
    const ann = await pageOf('ann', '/policy');
    await ann.getByRole('heading', { name: 'The policy is for operators.' }).waitFor();
    expect(await ann.getByRole('link', { name: 'Policy', exact: true }).count()).toBe(0);
    expect(await ann.content()).not.toContain('requester_may_not_approve');
    const olga = await pageOf('olga', '/policy');
    await olga.getByRole('link', { name: 'Policy', exact: true }).waitFor();
    expect(await olga.getByRole('heading', { name: 'The policy is for operators.' }).count()).toBe(0);
    await ann.context().close();
    await olga.context().close();
  });

  it('sign in again when their credential has ended, with the reason', async () => {
    keys['eve'] = await keyFor('eve');
    const eve = await pageOf('eve', '/runs');
    const listed = sluice(['keys', 'api', 'list', '--json'], { ...desks.variables, SLUICE_DATA: data });
    const { output } = await listed.ended;
    const { keys: made } = JSON.parse(output) as { keys: readonly { readonly id: string; readonly name: string }[] };
    const id = made.find(({ name }) => name === 'eve')?.id ?? '';
    await sluice(['keys', 'api', 'revoke', id], { ...desks.variables, SLUICE_DATA: data }).ended;
    await eve.getByRole('link', { name: 'Tools', exact: true }).click();
    await eve.getByRole('alert').filter({ hasText: 'Sign in again.' }).waitFor();
    expect(await eve.getByRole('navigation', { name: 'Pages' }).count()).toBe(0);
    await eve.context().close();
  });
});

it('says that the gateway is gone, and goes on when it is back', async () => {
  const olga = await pageOf('olga', '/runs');
  await olga.getByRole('heading', { name: 'Runs' }).waitFor();
  const port = new URL(system.base).port;
  await system.close({ keepsData: true });
  await olga.getByText('The gateway does not answer', { exact: false }).waitFor();
  system = await served({ ...desks.variables, SLUICE_HTTP_PORT: port }, data);
  await olga.getByText('The gateway does not answer', { exact: false }).waitFor({ state: 'detached' });
  await ask(system, 'look-up {"id":"99"}', 'after-the-break', { credential: keys['olga'] ?? '' });
  await olga.mouse.move(0, 0);
  const news = olga.getByRole('button', { name: '1 new run' });
  const row = olga.getByText('look-up {"id":"99"}').first();
  await news.or(row).first().waitFor();
  if (await news.isVisible()) await news.click();
  await row.waitFor();
  await olga.context().close();
});
