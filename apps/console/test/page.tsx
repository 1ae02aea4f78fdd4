import { jest } from '@jest/globals';
import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRouter, RouterProvider } from '@tanstack/react-router';
import { cleanup, configure, render } from '@testing-library/react';
import { queries } from '../src/data/queries.js';
import { router } from '../src/router.js';
import { SignedInContext } from '../src/session/session-provider.js';
import type { Me } from '../src/session/session.js';

// A page's code is loaded when it is opened, and compiled on a first run: seconds, on a busy machine half a minute.
configure({ asyncUtilTimeout: 60_000 });

/** What the gateway answers in a test: by method and path, a value as JSON, or a whole response. */
export type Answers = Readonly<Record<string, (asked: Asked) => unknown>>;

interface Asked {
  readonly url: URL;
  readonly body: unknown;
}

export const ann: Me = {
  ...{ tenant: 'acme', user: 'user:ann', on_behalf_of: null, identity: 'jwt', groups: ['*'], connections: [] },
  ...{ is_operator: false, is_approver: true, is_auditor: false, expires_at: null },
};
export const operator: Me = { ...ann, user: 'user:olga', is_operator: true };

/** A refusal as the gateway writes it. */
export function problem(status: number, code: string, detail: string, more: object = {}): Response {
  const body = { type: 'about:blank', title: code, status, detail, code, error: { code, message: detail }, ...more };
  return Response.json(body, { status, headers: { 'content-type': 'application/problem+json' } });
}

/** Server-sent events, which stay open until the page leaves. */
export function events(...chunks: readonly unknown[]): Response {
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

/** Shows the page at this address to this person; `asked` has what it asked of the gateway, as `GET /v1/runs`. */
export function show(path: string, answers: Answers, me: Me = ann): { readonly asked: string[] } {
  cleanup();
  queries.clear();
  const asked: string[] = [];
  globalThis.fetch = jest.fn(async (input: RequestInfo | URL, init: RequestInit = {}) => {
    const url = new URL(input instanceof Request ? input.url : String(input), 'http://localhost');
    const method = init.method ?? 'GET';
    asked.push(`${method} ${url.pathname}${url.search}`);
    const isStream = new Headers(init.headers).get('accept') === 'text/event-stream';
    const answer = (isStream ? answers[`STREAM ${url.pathname}`] : undefined) ?? answers[`${method} ${url.pathname}`];
    if (answer === undefined) {
      if (url.pathname !== '/v1/approvals') return problem(404, 'not_found', `There is no ${method} ${url.pathname}.`);
      return isStream ? events() : Response.json({ approvals: [], next_cursor: null });
    }
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : null;
    const given = await answer({ url, body });
    return given instanceof Response ? given : Response.json(given);
  }) as typeof fetch;
  const information = {
    version: '1.0.0',
    identity: 'none',
    sign_in: ['local' as const],
    oidc: null,
    bus: 'embedded' as const,
    docs: '/docs',
    command: 'npx sluice',
    start: 'npm start',
  };
  // One of its own: the last page’s may be in the middle of a way that nobody sees any more.
  const own = createRouter({ ...router.options, history: createMemoryHistory({ initialEntries: [path] }) });
  render(
    <SignedInContext value={{ information, me }}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={own} />
      </QueryClientProvider>
    </SignedInContext>,
  );
  return { asked };
}
