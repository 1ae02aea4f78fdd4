#!/usr/bin/env node
// A sample MCP server that asks a Secret Network node over its REST interface, which SECRET_REST_URL names, for a
// balance.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { getJson } from '../get-json.mjs';
import { isSecretAddress } from './address.mjs';

const node = restUrl(process.env.SECRET_REST_URL);

serveStdio(() => {
  const server = new McpServer({ name: 'balance', version: '0.1.0' });
  server.registerTool(
    'query_secret_balance',
    {
      description:
        'Query SCRT balance for an address of Secret Network. Takes the address, returns the amount in SCRT and in uscrt, its millionth. ' +
        'Example: { "address": "secret1qqqsyqcyq5rqwzqfpg9scrgwpugpzysnpn9nv9" }.',
      inputSchema: z.strictObject({
        address: z.string().max(100).describe('Secret Network address (secret1...)'),
      }),
      outputSchema: z.object({
        address: z.string(),
        uscrt: z.string().describe('A whole number, as text: it may be larger than numbers in JSON.'),
        scrt: z.string(),
      }),
      annotations: {
        title: 'Secret Network Balance Query',
        readOnlyHint: true,
        destructiveHint: false,
        openWorldHint: true,
      },
    },
    async ({ address }) => {
      const balance = await balanceOf(address);
      const text = `${balance.address} holds ${balance.scrt} SCRT.`;
      return { content: [{ type: 'text', text }], structuredContent: balance };
    },
  );
  return server;
});

async function balanceOf(address) {
  if (!isSecretAddress(address))
    throw new Error(
      'Invalid address. Please provide an address of Secret Network: secret1 and 38 more characters, without a typing mistake.',
    );
  const path = `cosmos/bank/v1beta1/balances/${address}/by_denom?denom=uscrt`;
  const found = await getJson(new URL(path, node));
  const uscrt = found?.balance?.amount ?? '0';
  if (!/^\d{1,40}$/.test(uscrt)) throw new Error('The external service gave no amount. Please try again.');
  const padded = uscrt.padStart(7, '0');
  const scrt = `${padded.slice(0, -6)}.${padded.slice(-6)}`;
  return { address, uscrt, scrt };
}

/** With a slash at its end, so that paths are put behind it. */
function restUrl(text = '') {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text.replace(/\/*$/, '/'));
  console.error('Set SECRET_REST_URL to the REST interface of a Secret Network node, such as http://127.0.0.1:1317');
  process.exit(1);
}
