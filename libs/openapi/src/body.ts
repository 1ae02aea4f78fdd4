import { isJsonObject } from '@sluice/core';
import type { HttpBody, JsonObject, JsonValue, ParameterStyle } from '@sluice/core';
import { argumentFor } from './argument.js';
import { inputSchema, plainText } from './input-schema.js';
import { followed, objectIn, textIn } from './values.js';

type FieldStyle = NonNullable<HttpBody['styles']>[string];

type ReadBody =
  | { readonly body: HttpBody; readonly schema: JsonObject; readonly isRequired: boolean }
  | { readonly problem: string; readonly isRequired: boolean };

/** Kinds of bodies that can be made of arguments, the first that a document offers counts. */
const kinds: readonly (readonly [RegExp, HttpBody['encoding']])[] = [
  [/^application\/json$/, 'json'],
  // As JSON says what is to change, and nothing else.
  [/^application\/merge-patch\+json$/, 'json'],
  [/^(?:application|text)\/(?:[\w.-]+\+)?json$/, 'json'],
  [/^application\/x-www-form-urlencoded$/, 'form'],
  [/^multipart\/form-data$/, 'multipart'],
  [/^text\/(?:plain|markdown|x-markdown|html|csv|yaml)$/, 'text'],
  [/^(?:\*\/\*|application\/\*)$/, 'json'],
];

const styles: readonly string[] = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'];

/** What a request sends, as one argument; null for an operation that sends nothing. */
export function readBody(
  document: JsonObject,
  given: JsonValue | undefined,
  taken: Readonly<Record<string, JsonValue>>,
): ReadBody | null {
  if (given === undefined || given === null) return null;
  const body = followed(document, given);
  if (typeof body === 'string') throw new TypeError(body);
  const isRequired = body['required'] === true;
  const content = objectIn(body['content']);
  const offered = Object.keys(content);
  if (offered.length === 0) return null;
  for (const [form, encoding] of kinds) {
    const key = offered.find((one) => form.test(bare(one)));
    if (key === undefined) continue;
    const media = objectIn(content[key]);
    const placed = inputSchema(document, media['schema']);
    const description = plainText(textIn(body['description']), 500);
    const shortened = placed.isShortened ? 'Deeper levels are not shown; the API takes them.' : '';
    const said = [textIn(placed.schema['description']) || description, shortened].filter((one) => one !== '').join(' ');
    const schema = { ...placed.schema, ...(said === '' ? {} : { description: said }) };
    const contentType = bare(key).includes('*') ? 'application/json' : key.trim();
    const more = encoding === 'multipart' ? filesIn(schema) : encoding === 'form' ? stylesIn(media, schema) : {};
    return {
      body: { contentType, encoding, argument: argumentFor('body', taken, 'body'), ...more },
      schema: encoding === 'multipart' ? withTextFiles(schema) : encoding === 'text' ? asText(schema) : schema,
      isRequired,
    };
  }
  const types = offered.map((one) => one.slice(0, 80)).join(', ');
  return { problem: `Its body is ${types}, and only JSON, forms and texts can be made of arguments.`, isRequired };
}

/** A media type without its parameters. */
function bare(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase();
}

function filesIn(schema: JsonObject): Pick<HttpBody, 'files'> {
  const files = Object.entries(objectIn(schema['properties'])).flatMap(([name, one]) => (isFile(one) ? [name] : []));
  return files.length === 0 ? {} : { files };
}

function isFile(schema: JsonValue): boolean {
  const { format, items, contentMediaType } = objectIn(schema);
  return (
    format === 'binary' ||
    (contentMediaType !== undefined && contentMediaType !== 'application/json') ||
    (isJsonObject(items) && isFile(items))
  );
}

/** The content of a file is given as a text. */
function withTextFiles(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const each = Object.entries(properties).map(([name, one]): [string, JsonValue] => {
    if (!isFile(one)) return [name, one];
    const said = textIn(objectIn(one)['description']);
    return [name, { type: 'string', description: `${said === '' ? '' : `${said} `}The text of the file.` }];
  });
  return { ...schema, properties: Object.fromEntries(each) };
}

function asText(schema: JsonObject): JsonObject {
  return schema['type'] === 'string'
    ? schema
    : { type: 'string', ...(schema['description'] === undefined ? {} : { description: schema['description'] }) };
}

/** OpenAPI’s default for a form is one `name=value` for each item; objects are JSON. */
function stylesIn(media: JsonObject, schema: JsonObject): Pick<HttpBody, 'styles'> {
  const encoding = objectIn(media['encoding']);
  const found = Object.keys(objectIn(schema['properties'])).flatMap((name): (readonly [string, FieldStyle])[] => {
    const { style, explode, contentType } = objectIn(encoding[name]);
    if (typeof style === 'string' && styles.includes(style)) {
      const spread = typeof explode === 'boolean' ? explode : style === 'form' || style === 'deepObject';
      return [[name, { style: style as ParameterStyle, explode: spread }]];
    }
    return /[/+]json\b/.test(textIn(contentType)) ? [[name, { style: 'json', explode: false }]] : [];
  });
  return found.length === 0 ? {} : { styles: Object.fromEntries(found) };
}
