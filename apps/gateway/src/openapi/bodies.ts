import { recordSchema } from '@sluice/contracts';
import { longestContentName, mostQuestionContent } from '@sluice/run';
import { propertiesOf, ref, schemasOfRecord } from './record-schemas.js';
import type { JsonSchema } from './json-schema.js';
import { ownBodies } from './own-bodies.js';
import { standingBodies } from './areas/approvals/standing.js';
import { hookBodies } from './areas/hooks/operations.js';

/** What the gateway fills in where a decision leaves it out. */
const filledIn = ['decided_by', 'decided_at'];

/** The bodies that the gateway takes, from the schemas of the records that they become. */
export function bodySchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ...schemasOfRecord('AgentRequest', 'body'),
    AgentRequest: question(),
    QuestionContent: questionContent,
    ApprovalDecision: decision(),
    ApprovalDecisions: decisions,
    ...standingBodies(),
    ...hookBodies,
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

/** A question, whose content is names in its record, and may be bytes in a body. */
function question(): JsonSchema {
  const { AgentRequest: record = {} } = schemasOfRecord('AgentRequest', 'body');
  const content = {
    ...{ type: ['array', 'null'], items: ref('QuestionContent'), maxItems: mostQuestionContent, default: null },
    description: 'Images and files of the question; absent or null means none.',
  };
  return { ...record, properties: { ...(record['properties'] as object), content } };
}

const questionContent: JsonSchema = {
  type: 'object',
  description:
    'An image or a file: an upload by its `hash`, or its bytes as `data`. What an upload was answered with may stand here as it is.',
  properties: {
    hash: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      description: 'Names an upload of the caller, or content that the run has.',
    },
    data: {
      ...{ type: 'string', contentEncoding: 'base64', pattern: '^[A-Za-z0-9+/_-]{2,}={0,2}$' },
      description: 'The bytes in base64, where there is no `hash`; the body has at most SLUICE_HTTP_BODY_BYTES.',
    },
    type: {
      type: ['string', 'null'],
      minLength: 1,
      description: 'The media type of `data`; images, sounds and PDF are known by their bytes.',
    },
    size: { type: ['integer', 'null'], description: 'Not read.' },
    kind: { type: ['string', 'null'], description: 'Not read.' },
    name: {
      ...{ type: ['string', 'null'], maxLength: longestContentName },
      description: 'The file’s name, which a model reads.',
    },
  },
  oneOf: ['hash', 'data'].map((one) => ({ properties: { [one]: {} }, required: [one] })),
  additionalProperties: false,
};

function cancelRequest(): JsonSchema {
  const fields = recordSchema('Cancellation').fields.filter(({ name }) => name === 'reason');
  return { type: 'object', properties: propertiesOf(fields, 'body', 'Cancellation'), additionalProperties: false };
}

const decisions: JsonSchema = {
  type: 'object',
  description: 'Several decisions, as those on the calls of one turn.',
  properties: {
    decisions: {
      ...{ type: 'array', items: ref('ApprovalDecision'), minItems: 1, maxItems: 100 },
      description: 'The decisions, in the order in which they are made.',
    },
  },
  required: ['decisions'],
  additionalProperties: false,
};

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
      arguments: {
        description:
          'The arguments to make the call with: an object, or its JSON as text. As they were asked about, or left out: the call keeps its own. Secrets that are left out, or stand as `[redacted]`, are kept.',
      },
    },
    required: fields
      .filter(({ name, default: given }) => given === undefined && !filledIn.includes(name))
      .map(({ name }) => name),
    additionalProperties: false,
  };
}
