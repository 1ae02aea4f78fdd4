import { recordSchema } from '@sluice/contracts';
import { propertiesOf, schemasOfRecord } from './record-schemas.js';
import type { JsonSchema } from './json-schema.js';
import { ownBodies } from './own-bodies.js';

/** What the gateway fills in where a decision leaves it out. */
const filledIn = ['decided_by', 'decided_at'];

/** The bodies that the gateway takes, from the schemas of the records that they become. */
export function bodySchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ...schemasOfRecord('AgentRequest', 'body'),
    ApprovalDecision: decision(),
    CancelRequest: cancelRequest(),
    ...signInBodies,
    ...ownBodies,
  };
}

/** Bodies of the console's routes, which become no record. */
const signInBodies: Readonly<Record<string, JsonSchema>> = {
  SignIn: {
    type: 'object',
    properties: {
      code: { type: 'string', description: 'The text behind `#sign-in=` in the link.' },
      public_key: {
        type: ['object', 'null'],
        description:
          'The public part of a key of ECDSA P-256 that the browser keeps, as JWK. With it the sign-in can be renewed.',
      },
    },
    required: ['code'],
    additionalProperties: false,
  },
  SignInRenewal: {
    type: 'object',
    properties: {
      session: { type: 'string', description: 'The session, as the sign-in gave it.' },
      at: { type: 'integer', description: 'Now, in milliseconds since the epoch.' },
      signature: {
        type: 'string',
        description:
          'Of the session, a dot and `at`: ECDSA with SHA-256 by the key that the session was given for, as r and s in base64url.',
      },
    },
    required: ['session', 'at', 'signature'],
    additionalProperties: false,
  },
};

function cancelRequest(): JsonSchema {
  const fields = recordSchema('Cancellation').fields.filter(({ name }) => name === 'reason');
  return { type: 'object', properties: propertiesOf(fields, 'body', 'Cancellation'), additionalProperties: false };
}

function decision(): JsonSchema {
  const { doc = '', fields } = recordSchema('ApprovalDecided');
  const own = fields.map(({ name }) => name);
  const ignored = recordSchema('ApprovalRequested').fields.filter(({ name }) => !own.includes(name));
  return {
    type: 'object',
    description: `${doc} What \`approval_requested\` holds may stand there too.`,
    properties: {
      ...propertiesOf(fields, 'body', 'ApprovalDecided'),
      ...Object.fromEntries(
        ignored.map(({ name, doc: meaning = '' }) => [name, { description: `Not read. ${meaning}` }]),
      ),
    },
    required: fields
      .filter(({ name, default: given }) => given === undefined && !filledIn.includes(name))
      .map(({ name }) => name),
    additionalProperties: false,
  };
}
