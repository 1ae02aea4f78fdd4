/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import type { DeadLetter, ListedDeadLetter } from '@sluice/client';
import { screen, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { ann, operator, problem, show } from './page.js';

const listed: ListedDeadLetter = {
  ...{ id: '0/17', topic: 'agent.tool-calls', partition: 0, offset: 4, service: 'executor', session_id: 's-1' },
  ...{ code: 'retries_exhausted', reason: 'The ledger <b>could not</b> be reached.', attempts: 5 },
  ...{ appended_at: Date.now() - 60_000, failed_at: Date.now() - 30_000, redriven: null },
};
const letter: DeadLetter = {
  ...{ ...listed, headers: { 'sluice-hop': '1' }, record: { request_id: 'run-1', question: '<img src=x>' } },
  ...{
    unreadable: null,
    redrive: { possible: true, topic: 'agent.tool-calls', meaning: 'The turn is executed again.' },
  },
};
const path = '/dead-letters?letter=0/17';

describe('Dead letters', () => {
  it('shows a letter, and redrives it once it is confirmed', async () => {
    const user = userEvent.setup();
    let isRedriven = false;
    const redriven = { by: 'user:olga', at: Date.now() };
    const now = <T extends ListedDeadLetter>(of: T): T => (isRedriven ? { ...of, redriven } : of);
    show(
      path,
      {
        'GET /v1/dead-letters': () => ({ dead_letters: [now(listed)], next_cursor: null }),
        'GET /v1/dead-letters/0%2F17': () => ({
          ...now(letter),
          redrive: isRedriven ? { possible: false, topic: null, meaning: 'It was redriven.' } : letter.redrive,
        }),
        'POST /v1/dead-letters/0%2F17/redrive': () => {
          isRedriven = true;
          return { id: '0/17', status: 'redriven', topic: 'agent.tool-calls', meaning: 'The run goes on.' };
        },
      },
      operator,
    );
    const record = await screen.findByRole('region', { name: 'Record' });
    expect(record.textContent).toContain('<img src=x>');
    expect(screen.getAllByText('The ledger <b>could not</b> be reached.').length).toBeGreaterThan(0);
    await user.click(screen.getByRole('button', { name: 'Redrive …' }));
    const dialog = await screen.findByRole('dialog');
    expect(within(dialog).getByText('The turn is executed again.')).toBeTruthy();
    await user.click(within(dialog).getByRole('button', { name: 'Redrive it, once' }));
    expect(await within(dialog).findByText('The run goes on.')).toBeTruthy();
    await user.click(within(dialog).getByRole('button', { name: 'Close' }));
    expect(await screen.findByText('Redriven by user:olga')).toBeTruthy();
  });

  it('says why a redrive was refused', async () => {
    const user = userEvent.setup();
    show(
      path,
      {
        'GET /v1/dead-letters': () => ({ dead_letters: [listed], next_cursor: null }),
        'GET /v1/dead-letters/0%2F17': () => letter,
        'POST /v1/dead-letters/0%2F17/redrive': () => problem(409, 'conflict', 'user:bob redrove it a minute ago.'),
      },
      operator,
    );
    await user.click(await screen.findByRole('button', { name: 'Redrive …' }));
    await user.click(await screen.findByRole('button', { name: 'Redrive it, once' }));
    expect((await screen.findByRole('alert')).textContent).toContain('user:bob redrove it a minute ago.');
  });

  it('is for operators, and says when there is nothing', async () => {
    const { asked } = show('/dead-letters', {}, ann);
    expect(await screen.findByText('Dead letters are for operators.')).toBeTruthy();
    expect(asked.filter((each) => each.includes('dead-letters'))).toEqual([]);
    show('/dead-letters', { 'GET /v1/dead-letters': () => ({ dead_letters: [], next_cursor: null }) }, operator);
    expect(await screen.findByText('There are no dead letters.')).toBeTruthy();
  });
});
