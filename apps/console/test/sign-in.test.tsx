/** @jest-environment ./test/infra/browser.mjs */
import { afterEach, describe, expect, it } from '@jest/globals';
import { act, cleanup, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { SessionProvider } from '../src/session/session-provider.js';
import { session } from '../src/session/session.js';
import { ann as me, problem } from './page.js';

const information = {
  ...{ version: '0.1.0', identity: 'jwt', sign_in: ['token', 'api_key'], oidc: null, bus: 'kafka', docs: '/docs' },
  ...{ command: 'sluice', start: 'sluice start' },
};

/** Answers by path what the page asks for before anybody is signed in; gives the paths asked. */
function gatewayWith(me: () => Response, about: object = information): readonly string[] {
  const asked: string[] = [];
  globalThis.fetch = (async (url: string) => {
    const path = new URL(url).pathname;
    asked.push(path);
    return path === '/v1/console' ? Response.json(about) : me();
  }) as typeof fetch;
  return asked;
}

describe('signing in', () => {
  afterEach(() => {
    cleanup();
    session.signOut();
  });

  it('takes a pasted token, sends it as a bearer and shows the pages', async () => {
    const asked = gatewayWith(() => Response.json(me));
    render(<SessionProvider>the pages</SessionProvider>);
    await userEvent.type(await screen.findByLabelText('Token or API key'), 'secret-token');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    expect(await screen.findByText('the pages')).toBeTruthy();
    expect(await session.token()).toBe('secret-token');
    expect(asked).toContain('/v1/me');
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain('secret-token');
  });

  it('names commands as they are typed where the gateway runs', async () => {
    gatewayWith(() => problem(401, 'authz_denied', 'Sign in.'), {
      ...information,
      identity: 'none',
      sign_in: ['local'],
    });
    render(<SessionProvider>the pages</SessionProvider>);
    await screen.findByLabelText('Link or local secret');
    expect(screen.getByText('sluice start')).toBeTruthy();
    expect(screen.getByText('sluice console')).toBeTruthy();
  });

  it('says in the gateway’s words why a token does not hold', async () => {
    gatewayWith(() => problem(401, 'authz_denied', 'The token has expired.'));
    render(<SessionProvider>the pages</SessionProvider>);
    await userEvent.type(await screen.findByLabelText('Token or API key'), 'old');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    expect((await screen.findByRole('alert')).textContent).toBe('The token has expired.');
    expect(screen.queryByText('the pages')).toBeNull();
  });

  it('asks again once the session has expired', async () => {
    gatewayWith(() => Response.json(me));
    render(<SessionProvider>the pages</SessionProvider>);
    await userEvent.type(await screen.findByLabelText('Token or API key'), 'short');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await screen.findByText('the pages');
    act(() => session.expire('The token has expired.'));
    expect((await screen.findByRole('alert')).textContent).toBe('Sign in again. The token has expired.');
    expect(await session.token()).toBe('');
  });
});
