import { isJsonObject } from '@sluice/core';
import type { HttpParameter, JsonObject, JsonValue, McpServer, ParameterIn, ParameterStyle } from '@sluice/core';
import { inputSchema, plainText } from './input-schema.js';
import { argumentFor, parameterShown } from './argument.js';
import { objectIn, textIn } from './values.js';

/** How each place is written unless the document says otherwise, and what else it may say. */
const stylesOf: Readonly<Record<ParameterIn, readonly [ParameterStyle, ...ParameterStyle[]]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

/** Headers that the client of a request sets itself, or that say where it goes. */
const ownHeaders = new Set([
  ...['accept', 'content-type', 'content-length', 'authorization', 'host', 'connection', 'transfer-encoding', 'cookie'],
  ...['upgrade', 'te', 'trailer', 'expect', 'keep-alive', 'proxy-authorization', 'user-agent'],
]);

type ReadParameter =
  | { readonly parameter: HttpParameter; readonly schema: JsonObject; readonly isRequired: boolean }
  | { readonly problem: string; readonly isRequired: boolean };

/** A parameter as an argument; null for one that no caller gives. */
export function readParameter(
  document: JsonObject,
  given: JsonObject,
  {
    server,
    taken,
    path,
  }: { readonly server: McpServer; readonly taken: Readonly<Record<string, JsonValue>>; readonly path: string },
): ReadParameter | null {
  const name = textIn(given['name']);
  const place = textIn(given['in']);
  const isRequired = given['required'] === true || place === 'path';
  if (!isPlaceholder(place) || name === '')
    return { problem: `It has ${parameterShown('', name)} in ${place.slice(0, 40) || 'no place'}.`, isRequired };
  if (isSetHere(name, place, server)) return null;
  if (place === 'path' && !path.includes(`{${name}}`)) return null;
  if (place === 'header' && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    return { problem: `It has ${parameterShown(place, name)}, which is no name of a header.`, isRequired };
  const written = textIn(given['style']);
  const styles = stylesOf[place];
  const style = written === '' ? styles[0] : styles.find((one) => one === written);
  if (style === undefined)
    return { problem: `It has ${parameterShown(place, name)} in the style ${written.slice(0, 40)}.`, isRequired };
  const content = objectIn(given['content']);
  const [media] = Object.keys(content);
  if (media !== undefined && !/[/+]json\b/i.test(media))
    return { problem: `It has ${parameterShown(place, name)} as ${media.slice(0, 80)}.`, isRequired };
  const { schema } = inputSchema(document, media === undefined ? given['schema'] : objectIn(content[media])['schema']);
  const description = plainText(textIn(given['description']), 500);
  const argument = argumentFor(name, taken, place);
  const explode = typeof given['explode'] === 'boolean' ? given['explode'] : style === 'form' || style === 'deepObject';
  return {
    parameter: {
      name,
      in: place,
      ...(argument === name ? {} : { argument }),
      style: media === undefined ? style : 'json',
      explode,
    },
    schema: described(place === 'path' ? filled(schema) : schema, description),
    isRequired,
  };
}

function isPlaceholder(place: string): place is ParameterIn {
  return Object.hasOwn(stylesOf, place);
}

/** A header of the request itself, the credential, or the key of the call. */
function isSetHere(name: string, place: ParameterIn, { openapi, connection }: McpServer): boolean {
  const lower = name.toLowerCase();
  if (place === 'header' && (ownHeaders.has(lower) || lower === openapi?.idempotencyHeader?.toLowerCase())) return true;
  const credential = openapi?.credential;
  if (connection === undefined || credential === undefined || !('name' in credential)) return false;
  return (
    credential.in === place && (place === 'header' ? credential.name.toLowerCase() === lower : credential.name === name)
  );
}

/** Nothing may stand in a path where an empty text would. */
function filled(schema: JsonObject): JsonObject {
  return schema['type'] === 'string' && schema['minLength'] === undefined && schema['enum'] === undefined
    ? { ...schema, minLength: 1 }
    : schema;
}

function described(schema: JsonObject, description: string): JsonObject {
  return description === '' || !isJsonObject(schema) ? schema : { ...schema, description };
}
