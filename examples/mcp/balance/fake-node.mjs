#!/usr/bin/env node
// Stands in for a node of Secret Network: `node fake-node.mjs [PORT]`. It knows one address; every other one has
// nothing.
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

export const richAddress = 'secret1qqqsyqcyq5rqwzqfpg9scrgwpugpzysnpn9nv9';

export function fakeNode() {
  return createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://node');
    const [, address] = /^\/cosmos\/bank\/v1beta1\/balances\/(\w+)\/by_denom$/.exec(pathname) ?? [];
    const amount = address === richAddress ? '1234567890' : '0';
    const body =
      address === undefined
        ? { code: 5, message: 'Not Implemented', details: [] }
        : { balance: { denom: searchParams.get('denom'), amount } };
    response.writeHead(address === undefined ? 501 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? 1317);
  fakeNode().listen(port, '127.0.0.1', () => console.error(`A node that is none listens on http://127.0.0.1:${port}`));
}
