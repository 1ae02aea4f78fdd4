import { z } from 'zod';
import { ToolUnavailableError, ToolUserError } from '@sluice/core';
import { defineTool } from '@sluice/tools';

export const ways = [
  'says it', 'names a member after it', 'says its headers', 'says it in base 64', 'says it as in an address', 'says it nested',
  'throws it', 'throws it for the model', 'says that it is away', 'reports it', 'returns another shape', 'asks for another connection',
  'fetches', 'fetches with a body',
] as const; // prettier-ignore

const parts = {
  description: 'Uses its connection, and is careless with what it was given.',
  input: z.object({ how: z.enum(ways), url: z.string().optional() }),
  output: z.object({ said: z.json() }),
  redaction: { fields: ['said'] },
  capabilities: ['auth', 'connections', 'progress'],
  requiresConnection: true,
} as const;

type Definition = Parameters<
  typeof defineTool<typeof parts.input, typeof parts.output, 'auth' | 'connections' | 'progress'>
>[0];

/** A host that the connections of the tests name. */
const at = 'https://crm.example/customers';

/** What each call was told of itself. */
export const contexts: unknown[] = [];

const execute: Definition['execute'] = async ({ how, url = '' }, context, { auth, connections, progress }) => {
  contexts.push(context);
  const id = context.connectionId ?? '';
  const token = await auth.getAccessToken(id, at);
  switch (how) {
    case 'says it':
      return { said: `It is ${token}.` };
    case 'names a member after it':
      return { said: { [token]: 1 } };
    case 'says its headers':
      return { said: { ...(await auth.getAuthHeaders(id, at)) } };
    case 'says it in base 64':
      return { said: btoa(token) };
    case 'says it as in an address':
      return { said: `https://x/?t=${encodeURIComponent(token)}` };
    case 'says it nested':
      return { said: [[{ deep: [`"${JSON.stringify(token)}"`] }]] };
    case 'throws it':
      throw new Error(token);
    case 'throws it for the model':
      throw new ToolUserError(`Not with ${token}.`);
    case 'says that it is away':
      throw new ToolUnavailableError(`${token} is away.`);
    case 'reports it':
      progress.report(`I have ${token}`);
      return { said: 'reported' };
    case 'returns another shape':
      return token as never;
    case 'asks for another connection':
      return { said: await auth.getAccessToken('another', at) };
    case 'fetches':
    case 'fetches with a body': {
      const init = how === 'fetches' ? {} : { method: 'POST', body: 'a body' };
      const response = await connections.for(id).fetch(url, init);
      return { said: `${response.status} ${await response.text()}` };
    }
  }
};

/** A tool that only reads, and one with an effect, whose outcome is written to the ledger. */
export const careless = [
  defineTool({ ...parts, type: 'reader', effect: 'read_only', repeatable: true, execute }),
  defineTool({ ...parts, type: 'sender', effect: 'external_side_effect', repeatable: false, execute }),
];
