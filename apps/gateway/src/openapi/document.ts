import { problemType } from '../problem.js';
import { answerSchemas } from './answers.js';
import { bodySchemas } from './bodies.js';
import { formOfHeader, formOfListed, formOfParameter, formOfPathPart } from './limits.js';
import { listedParameters, operations, requiredParameters } from './operations.js';
import type { Answer, Operation, Who } from './operation.js';
import { ref } from './record-schemas.js';
import type { JsonSchema } from './json-schema.js';

/** What each status of a refusal says. */
export const refusalMeanings: Readonly<Record<number, string>> = {
  400: 'The request cannot be read; the message says what to change. Nothing was published.',
  401: 'The credential is missing or does not hold. Nothing was published.',
  403: 'The caller may not ask for this. Nothing was published.',
  404: 'There is no such thing for this caller.',
  409: 'The request_id was taken before in the tenant, the dead letter cannot be re-driven, or the candidate cannot be applied.',
  413: 'The body, or the record that it becomes, is too large. Nothing was published.',
  415: 'The body does not say that it is JSON in UTF-8.',
  422: 'The candidate has mistakes; `problems` says where and what to write.',
  429: 'The caller has made all the requests that it may make in a minute, where there is a limit, or its tenant has as many open runs as it may, so that none is started (`too_many_runs`). Nothing was published.',
  500: 'Something that only the operator can fix; the gateway’s log says what.',
  503: 'The gateway is busy, or something that it needs cannot be reached.',
};

/** The gateway’s description, as OpenAPI 3.1. */
export function openApi(): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const operation of operations) (paths[operation.path] ??= {})[operation.method] = described(operation);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: '1',
      summary: 'Asking over HTTP',
      description: 'Starts runs and streams them, lists runs and tools, and takes decisions on calls that wait.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A JWT or an API key, as the configuration’s identity says; where no identity is configured, the local secret.',
        },
        link: {
          ...{ type: 'apiKey', in: 'query', name: 'token' },
          description:
            'Where no identity is configured: the token of the link that the answer to a `POST` of a run has.',
        },
      },
      schemas: { ...bodySchemas(), ...answerSchemas() },
    },
  };
}

function described(operation: Operation): JsonSchema {
  const { id, tag, summary, description, answers, example, isTagged, who } = operation;
  const body = bodyOf(operation);
  const parameters = parametersOf(operation);
  return {
    operationId: id,
    ...clientOf(operation),
    'x-sluice-who': who,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...securityOf(who),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [
          status,
          answered(answer, example.answers[Number(status)], isTagged),
        ]),
      ),
      ...(isTagged === true ? { 304: { description: 'The answer is still the one that `if-none-match` names.' } } : {}),
      ...Object.fromEntries(refusalsOf(operation).map((status) => [String(status), refused(status)])),
    },
  };
}

function bodyOf({ body, isBodyOptional, fileBody, example }: Operation): JsonSchema | null {
  if (fileBody !== undefined) return { required: true, description: fileBody, content: { '*/*': { schema: {} } } };
  if (body === undefined) return null;
  const content = { 'application/json': { schema: ref(body), example: example.body } };
  return { required: isBodyOptional !== true, content };
}

/** What a caller sends where no identity is configured; nothing where that is the document's own default. */
function securityOf(who: Who): JsonSchema {
  switch (who) {
    case 'anyone':
      return { security: [] };
    case 'asker':
      return { security: [{ bearer: [] }, {}] };
    case 'link':
      return { security: [{ bearer: [] }, { link: [] }] };
    case 'caller':
    case 'operator':
      return {};
  }
}

/** The method that clients have of it, where nothing but the description is needed to make that. */
function clientOf({ client, isWritten, isRepeatable }: Operation): JsonSchema {
  if (client === null || isWritten === true) return {};
  return { 'x-sluice-client': { method: client, ...(isRepeatable === true ? { isRepeatable } : {}) } };
}

/** Those of the operation, and that of a limit where there is a caller to count. */
export function refusalsOf({ refusals, who }: Operation): readonly number[] {
  return who === 'anyone' ? refusals : [...refusals, 429].sort((one, other) => one - other);
}

function parametersOf({
  id,
  places = {},
  query = {},
  headers: own = {},
  isTagged,
  example,
}: Operation): readonly JsonSchema[] {
  const headers = {
    ...own,
    ...(isTagged === true ? { 'if-none-match': 'The `etag` of an answer that the caller has.' } : {}),
  };
  const isList = (name: string): boolean => listedParameters[id]?.includes(name) === true;
  return [
    ...Object.entries(places).map(([name, description]) => ({
      ...{ name, in: 'path', required: true, description, schema: formOfPathPart(name) },
      example: example.places?.[name],
    })),
    ...Object.entries(query).map(([name, description]) => ({
      ...{ name, in: 'query', description },
      ...(example.query?.[name] === undefined ? {} : { example: example.query[name] }),
      ...(requiredParameters[id]?.includes(name) === true ? { required: true } : {}),
      ...(isList(name)
        ? { style: 'form', explode: false, schema: { type: 'array', items: formOfListed(name) } }
        : { schema: formOfParameter(name) }),
    })),
    ...Object.entries(headers).map(([name, description]) => ({
      ...{ name, in: 'header', description, schema: formOfHeader(name) },
    })),
  ];
}

function answered(
  { meaning, json, others = {}, headers: own = {} }: Answer,
  example: unknown,
  isTagged?: true,
): JsonSchema {
  const headers = { ...own, ...(isTagged === true ? { etag: 'Names this answer, for `if-none-match`.' } : {}) };
  const content = {
    ...(json === undefined ? {} : { 'application/json': { schema: ref(json), example } }),
    ...Object.fromEntries(
      Object.entries(others).map(([type, description]) => [
        type,
        type === 'application/json'
          ? { schema: { type: 'object', description }, example }
          : { schema: { type: 'string', description } },
      ]),
    ),
  };
  return { description: meaning, ...headersOf(headers), content };
}

function headersOf(headers: Readonly<Record<string, string>>): JsonSchema {
  const named = Object.entries(headers).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return named.length === 0 ? {} : { headers: Object.fromEntries(named) as object };
}

const waiting = { 'retry-after': 'Seconds to wait.' };
const limited = {
  ...waiting,
  'ratelimit-policy': 'The limit: `q` requests in `w` seconds.',
  ratelimit:
    'How many requests are left (`r`), and in how many seconds there are more (`t`). Other answers have it too.',
};
const refusalHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = { 429: limited, 503: waiting };

function refused(status: number): JsonSchema {
  return {
    description: refusalMeanings[status] ?? '',
    ...headersOf(refusalHeaders[status] ?? {}),
    content: { [problemType]: { schema: ref('Problem') } },
  };
}
