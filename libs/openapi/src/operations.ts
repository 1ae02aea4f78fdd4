import { isJsonObject } from '@sluice/core';
import type { HttpOperation, HttpParameter, JsonObject, JsonValue, McpServer, OfferedTool } from '@sluice/core';
import { argumentFor } from './argument.js';
import { readBody } from './body.js';
import { plainText } from './input-schema.js';
import { nameOf, uniqueNames } from './names.js';
import { readParameter } from './parameter.js';
import { followed, listIn, objectIn, textIn } from './values.js';

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/** Characters of the text that a model reads about an operation. */
const descriptionCharacters = 2_000;
/** Operations of one document. */
const mostOperations = 20_000;

interface Described {
  readonly method: string;
  readonly path: string;
  readonly item: JsonObject;
  readonly operation: JsonObject;
  readonly name: string;
}

/**
 * Each operation of a document as a tool, in the document’s order: also one that cannot be called, with the reasons.
 * Throws a TypeError, a sentence, for what is no document of OpenAPI 3.
 */
export function operationsOf(document: JsonObject, server: McpServer): readonly OfferedTool[] {
  const version = textIn(document['openapi']);
  if (!/^3\.[012](\.|$)/.test(version)) throw new TypeError(notOpenApi(document, version));
  const described = describedIn(document).slice(0, mostOperations);
  const names = uniqueNames(described, server.id);
  return described.map((one, at) => toolOf(document, { ...one, name: names[at] ?? one.name }, server));
}

function notOpenApi(document: JsonObject, version: string): string {
  if (document['swagger'] !== undefined)
    return `It is a document of Swagger ${textIn(document['swagger'])}. Convert it to OpenAPI 3.0 or 3.1.`;
  if (version !== '') return `It is a document of OpenAPI ${version.slice(0, 20)}; 3.0 and 3.1 are read.`;
  return 'It is no OpenAPI document: it has no `openapi: 3…`.';
}

function describedIn(document: JsonObject): readonly Described[] {
  return Object.entries(objectIn(document['paths'])).flatMap(([path, given]) => {
    const item = followed(document, given);
    if (typeof item === 'string' || !path.startsWith('/')) return [];
    return methods.flatMap((method) => {
      const operation = item[method];
      if (!isJsonObject(operation)) return [];
      const name = nameOf(textIn(operation['operationId']), method, path);
      return [{ method: method.toUpperCase(), path, item, operation, name }];
    });
  });
}

function toolOf(document: JsonObject, described: Described, server: McpServer): OfferedTool {
  const { operation: given, name, method, path } = described;
  const title = textIn(given['summary']).trim();
  const tool = {
    name,
    description: descriptionOf(described),
    outputSchema: null,
    ...(title === '' ? {} : { title: plainText(title, 200) }),
  };
  try {
    const { inputSchema, operation, problems } = requestOf(document, described, server);
    return { ...tool, inputSchema, operation, ...(problems.length === 0 ? {} : { problems }) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const operation = { method, path, parameters: [] };
    return { ...tool, inputSchema: { type: 'object' }, operation, problems: [error.message] };
  }
}

function descriptionOf({ operation, method, path }: Described): string {
  const [summary, description] = [textIn(operation['summary']).trim(), textIn(operation['description']).trim()];
  const said = description.startsWith(summary)
    ? description
    : [summary, description].filter((one) => one !== '').join('\n\n');
  const text = plainText(said, descriptionCharacters);
  const deprecated = operation['deprecated'] === true ? 'Deprecated. ' : '';
  return text === '' ? `${deprecated}${method} ${path}` : `${deprecated}${text}`;
}

interface BuiltRequest {
  readonly inputSchema: JsonObject;
  readonly operation: HttpOperation;
  readonly problems: readonly string[];
}

function requestOf(document: JsonObject, described: Described, server: McpServer): BuiltRequest {
  const { operation, item, method, path } = described;
  const problems: string[] = [];
  const properties: Record<string, JsonValue> = {};
  const required: string[] = [];
  const parameters: HttpParameter[] = [];
  const add = (name: string, schema: JsonObject, isRequired: boolean): void => {
    properties[name] = schema;
    if (isRequired) required.push(name);
  };
  for (const given of parametersOf(document, item, operation)) {
    const read = readParameter(document, given, { server, taken: properties, path });
    if (read === null) continue;
    if ('problem' in read) {
      if (read.isRequired) problems.push(read.problem);
      continue;
    }
    parameters.push(read.parameter);
    add(read.parameter.argument ?? read.parameter.name, read.schema, read.isRequired);
  }
  for (const [, name = ''] of path.matchAll(/\{([^{}]*)\}/g))
    if (!parameters.some((one) => one.in === 'path' && one.name === name)) {
      // Many documents leave a parameter of the path out; it is a text then.
      const argument = argumentFor(name, properties, 'path');
      parameters.push({ ...parameterOf(name, argument), in: 'path', style: 'simple', explode: false });
      add(argument, { type: 'string', minLength: 1 }, true);
    }
  const takesBody = method !== 'GET' && method !== 'HEAD';
  const body = takesBody ? readBody(document, operation['requestBody'], properties) : null;
  if (method === 'TRACE') problems.push('TRACE is no method that can be sent.');
  if (!takesBody && objectIn(operation['requestBody'])['required'] === true)
    problems.push(`It wants a body with ${method}, which cannot be sent.`);
  if (body !== null && 'problem' in body) {
    if (body.isRequired) problems.push(body.problem);
  } else if (body !== null) add(body.body.argument, body.schema, body.isRequired);
  const url = server.url === null ? baseOf(document, item, operation) : null;
  if (server.url === null && url === null)
    problems.push('The document gives no absolute address of its server: write base_url beside the document.');
  return {
    inputSchema: {
      type: 'object',
      properties,
      ...(required.length === 0 ? {} : { required }),
      additionalProperties: false,
    },
    operation: {
      ...{ method, path },
      ...(url === null ? {} : { url }),
      parameters,
      ...(body === null || 'problem' in body ? {} : { body: body.body }),
    },
    problems,
  };
}

/** Those of the operation go before those of its path. */
function parametersOf(document: JsonObject, item: JsonObject, operation: JsonObject): readonly JsonObject[] {
  const all = [...listIn(item['parameters']), ...listIn(operation['parameters'])].map((given) => {
    const parameter = followed(document, given);
    if (typeof parameter === 'string') throw new TypeError(parameter);
    return parameter;
  });
  const byPlace = new Map(all.map((one) => [JSON.stringify([one['in'] ?? null, one['name'] ?? null]), one]));
  return [...byPlace.values()];
}

/** The first server, with the defaults of its variables; null where it is no absolute address. */
function baseOf(document: JsonObject, ...around: readonly JsonObject[]): string | null {
  const servers = [...around].reverse().map(({ servers }) => servers);
  const [first] = [...servers, document['servers']].map(listIn).find((list) => list.length > 0) ?? [];
  const { url, variables } = objectIn(first);
  const written = textIn(url).replace(/\{([^{}]*)\}/g, (_, name: string) =>
    textIn(objectIn(objectIn(variables)[name])['default']),
  );
  if (!/^https?:\/\//i.test(written) || !URL.canParse(written)) return null;
  const { username, password, search, hash, href } = new URL(written);
  return username !== '' || password !== '' || search !== '' || hash !== '' ? null : href.replace(/\/+$/, '');
}

function parameterOf(name: string, argument: string): Pick<HttpParameter, 'name' | 'argument'> {
  return { name, ...(argument === name ? {} : { argument }) };
}
