/** @jest-environment ./test/infra/browser.mjs */
import { describe, expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { ann, operator, show } from './page.js';

describe('The menu', () => {
  it('has the pages of operators for operators alone', async () => {
    show('/no-such-page', {}, operator);
    expect(await screen.findByRole('link', { name: 'Dead letters' })).toBeTruthy();
    show('/no-such-page', {}, ann);
    expect(await screen.findByText('There is no page at this address.')).toBeTruthy();
    expect(screen.queryByRole('link', { name: 'Dead letters' })).toBeNull();
  });
});
