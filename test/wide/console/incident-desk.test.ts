import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { projectRoot } from '../../harness/configurations.js';
import { sluice } from '../../harness/program.js';
import { startBrowser, watchedPage } from './browser.js';
import { endAll, served } from './served.js';

const example = join(projectRoot, 'examples/incident-desk');
const { startModel } = (await import(join(example, 'model.mjs'))) as {
  startModel(port: number): Promise<{ readonly url: string; close(): void }>;
};
const home = mkdtempSync(join(tmpdir(), 'sluice-incident-'));
const shop = join(home, 'shop.json');
let browser: Browser;
let model: Awaited<ReturnType<typeof startModel>>;
let kept = '';
let unkept = '';

beforeAll(async () => {
  model = await startModel(0);
  const text = readFileSync(join(example, 'sluice.yaml'), 'utf8')
    .replace('tool_folders: [tools]', `tool_folders: [${join(example, 'tools')}]`)
    .replace('http://127.0.0.1:8094/v1', model.url);
  const written = (name: string, content: string): string => {
    writeFileSync(join(home, name), content);
    return join(home, name);
  };
  kept = written('kept.yaml', text.replaceAll('data/incident-desk/shop.json', shop));
  // As docs/load.md does it by `sed`.
  unkept = written('unkept.yaml', text.replaceAll(/, --state, [^\]]*/g, ''));
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await endAll();
  model.close();
  rmSync(home, { recursive: true, force: true });
});

describe('the incident desk', () => {
  it('is walked through as docs/console.md says', async () => {
    const { link, base } = await served({ SLUICE_CONFIG: kept }, join(home, 'data'));
    const { page, wrong } = await watchedPage(await browser.newContext(), base);
    const menu = page.getByRole('navigation', { name: 'Pages' });
    await page.goto(link);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByPlaceholder('What is to be found out or done').fill('Checkout fails. Find out why, and fix it.');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.waitForURL('**/runs/*');
    const run = page.url();

    // The rollback waits, with what a person needs to decide.
    await menu.getByRole('link', { name: /^Approvals 1/ }).click();
    await page.getByText('I go back to 4.17.2', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: /^Approve/ }).first().click(); // prettier-ignore
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/ })
      .click();

    await page.goto(run);
    await page.getByText('The error rate fell from 18.4 % to 0.3 %', { exact: false }).first().waitFor();
    await page.getByText('I obey it.', { exact: false }).first().waitFor();
    await page.getByText(/^not_eligible_(state|group)$/).first().waitFor(); // prettier-ignore
    await page.getByRole('tab', { name: 'Tools at each iteration' }).click();
    await page
      .getByRole('row', { name: /delete_deployment/ })
      .getByRole('button')
      .nth(1)
      .click();
    await page.getByText('The rule “diagnosis-first”', { exact: false }).first().waitFor();
    await page.getByRole('tab', { name: 'States' }).click();
    for (const [tool, state] of [
      ['list_alerts', 'triage'],
      ['roll_back', 'review'],
    ] as const)
      // prettier-ignore
      await page.getByRole('listitem').filter({ hasText: tool }).filter({ hasText: state }).first().waitFor();
    await menu.getByRole('link', { name: 'Servers', exact: true }).click();
    for (const server of ['monitoring', 'deployments', 'status-page'])
      await page.getByText(server, { exact: true }).first().waitFor();
    expect(wrong).toEqual([]);
    expect(JSON.parse(readFileSync(shop, 'utf8'))).toEqual({ rolled_back: '4.17.2', updates: [] });
  });

  it('carries the load of its mix, each request ending as its kind should', async () => {
    const mix = join(example, 'mix.yaml');
    const { code, output, errors } = await sluice(
      ['load', '--mix', mix, '--rate', '5', '--for', '10s', '--json'],
      { SLUICE_CONFIG: unkept, SLUICE_DATA: join(home, 'load') },
    ).ended; // prettier-ignore
    const result = JSON.parse(output) as Record<string, unknown> & { tool_calls: object };
    expect([errors, result['unexpected'], result['unanswered'], code]).toEqual(['', 0, 0, 0]);
    expect(Object.keys(result.tool_calls).sort()).toEqual(['approval_refused', 'not_eligible_group', 'ok']);
  });
});
