import { configurationKeys } from '@sluice/configuration';
import {
  connectionAdapters,
  discoveryStrategies,
  identityProviders,
  mcpToolType,
  modelProviders,
  openApiToolType,
  toolEffects,
  webSearchProviders,
} from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { builtInTools } from '@sluice/packs';
import { toolTypes } from '@sluice/tools';

/** Where the keys of one bound stand, which other places refer to. */
const boundPath = 'rules.<rule>.arguments.<path>';
const bounds = { $ref: '#/definitions/bounds' };

const values = { type: 'array', items: { type: ['string', 'number', 'boolean'] } };
const texts = { type: 'array', items: { type: 'string' } };

/** One row of a table in docs/configuration.md. */
interface Row {
  readonly type: string;
  readonly meaning: string;
}

type Rows = ReadonlyMap<string, ReadonlyMap<string, Row>>;

const toolTypeNames = [...toolTypes(builtInTools).map(({ type }) => type), mcpToolType, openApiToolType];

/** Texts of which only these are right; elsewhere the name is the author's choice. */
const choices: Readonly<Record<string, readonly string[]>> = {
  'model.provider': modelProviders,
  'agents.default.tool_discovery.strategy': discoveryStrategies,
  'pipes.tool_discovery.strategy': discoveryStrategies,
  'identity.provider': identityProviders,
  'mcp.tools.<id>.effect': toolEffects,
  'openapi.tools.<id>.effect': toolEffects,
  'connections.<connection>.adapter': connectionAdapters,
  'web.search.provider': webSearchProviders,
};

/**
 * The JSON Schema of a configuration file, for editors: its keys are those of the compiler, their types and texts
 * those of the tables in docs/configuration.md, given as text. It says less than the compiler, which also checks what
 * stands in one place against another. Throws an Error that names the key for which the page has no type that is
 * known here.
 */
export function configurationSchema(page: string): JsonObject {
  const rows = rowsOf(page);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Sluice configuration',
    definitions: {
      groups: {
        type: 'object',
        additionalProperties: { anyOf: [texts, { $ref: '#/definitions/groups' }, { type: 'null' }] },
      },
      bounds: { type: 'object', additionalProperties: nullable(sectionSchema(boundPath, rows)) },
      agent: sectionSchema('agents.default', rows),
    },
    ...sectionSchema('', rows),
  };
}

function sectionSchema(path: string, rows: Rows): JsonObject {
  // Every agent has the keys of the default one.
  if (path === 'agents') return { type: 'object', additionalProperties: nullable({ $ref: '#/definitions/agent' }) };
  const keys = (configurationKeys as Readonly<Record<string, readonly string[]>>)[path] ?? [];
  const properties = keys.map((key): [string, JsonValue] => [key, propertySchema(path, key, rows)]);
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

function propertySchema(path: string, key: string, rows: Rows): JsonObject {
  const row = rows.get(path)?.get(key);
  const place = path === '' ? key : `${path}.${key}`;
  if (row === undefined) throw new Error(`docs/configuration.md has no row for ${place}.`);
  const kinds = typeSchemas(place, row.type, rows);
  // A key without a value counts as one that is left out.
  const anyOf = [...kinds, { type: 'null' }];
  return { description: plainText(row.meaning), anyOf };
}

function typeSchemas(place: string, type: string, rows: Rows): JsonObject[] {
  const [, least, most] = /^number, ([\d.]+) to ([\d.]+)$/.exec(type) ?? [];
  const words = type.split(/, | or /);
  if (least !== undefined) {
    const whole = Number(least) >= 1 ? 'integer' : 'number';
    const number = { type: whole, minimum: Number(least), maximum: Number(most) };
    return /_seconds$/.test(place)
      ? [number, { type: 'string', pattern: '^[0-9]+([.][0-9]+)?(ms|s|m|h|d)$' }]
      : [number];
  }
  if (/^`?true`? or `?false`?$/.test(type)) return [{ type: 'boolean' }];
  if (words.every((word) => /^`.+`$/.test(word))) return [{ enum: words.map((word) => word.replaceAll('`', '')) }];
  return type.split(' or ').flatMap((one) => typeSchema(place, one, rows));
}

function typeSchema(place: string, type: string, rows: Rows): JsonObject[] {
  const allowed = choices[place];
  switch (type) {
    case 'text':
      // Types of tool folders stand beside these.
      if (place === 'tool.<tool>.type') return [{ enum: toolTypeNames }, { type: 'string', minLength: 1 }];
      return [allowed === undefined ? { type: 'string', minLength: 1 } : { enum: allowed }];
    case 'address':
      return [{ type: 'string', pattern: '^[hH][tT][tT][pP][sS]?://' }];
    case 'number':
      return [{ type: 'number' }];
    case 'list of texts':
      return [texts];
    case 'list of maps':
      return [{ type: 'array', items: { type: 'object' } }];
    case 'map':
      return [mapSchema(place, rows)];
    case 'map of texts':
      return [{ type: 'object', additionalProperties: nullable({ type: 'string' }) }];
    case 'map of lists':
      return [{ type: 'object', additionalProperties: nullable(texts) }];
    case 'map of lists of maps': {
      const items = sectionSchema(namedSection(place) ?? place, rows);
      return [{ type: 'object', additionalProperties: nullable({ type: 'array', items }) }];
    }
    case 'JSON Schema':
      return [{ type: 'object' }];
    case 'value':
      return [values.items];
    case 'list of values':
      return [values];
    case 'map of bounds':
      return [bounds];
    case 'map of tools with bounds':
      return [{ type: 'object', additionalProperties: nullable(bounds) }];
    case 'map of groups':
      return [{ $ref: '#/definitions/groups' }];
    case 'list': {
      const items = Object.hasOwn(configurationKeys, `${place}[]`) ? `${place}[]` : namedSection(place);
      return [{ type: 'array', items: sectionSchema(items ?? place, rows) }];
    }
    default:
      if (/^`.+`$/.test(type)) return [{ const: type.replaceAll('`', '') }];
      throw new Error(
        `docs/configuration.md gives ${place} the type "${type}", which the schema of the configuration does not know.`,
      );
  }
}

/** A section with fixed keys, or one whose keys are names of the author's choice. */
function mapSchema(place: string, rows: Rows): JsonObject {
  // The page says of these: as there.
  const there = place
    .replace('agents.default.tool_discovery.', 'pipes.tool_discovery.')
    .replace('agents.default.budgets.', 'policy.budgets.')
    .replace('agents.default.may_cancel', 'agents.default.may_ask')
    .replace('policy.approval.rules.<rule>.for', 'rules.<rule>.for');
  if (there !== place) return mapSchema(there, rows);
  if (Object.hasOwn(configurationKeys, place)) return sectionSchema(place, rows);
  const named = namedSection(place);
  if (named === 'lists.<list>')
    return { type: 'object', additionalProperties: { anyOf: [values, nullable(sectionSchema(named, rows))] } };
  if (named !== undefined) return { type: 'object', additionalProperties: nullable(sectionSchema(named, rows)) };
  throw new Error(`docs/configuration.md gives ${place} the type "map"; say of what, as its neighbours do.`);
}

/** The section of entries that the author names, such as `tool.<tool>` of `tool`. */
function namedSection(place: string): string | undefined {
  return Object.keys(configurationKeys).find(
    (path) => path.startsWith(`${place}.<`) && !/>\./.test(path.slice(place.length)),
  );
}

function nullable(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] };
}

function rowsOf(page: string): Rows {
  const sections = page.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [title = ''] = section.split('\n');
      const lines = section.split('\n').filter((line) => line.startsWith('| `'));
      const rows = lines.map((line): [string, Row] => {
        const [key = '', type = '', , ...meaning] = line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim());
        return [key.replaceAll('`', ''), { type, meaning: meaning.join('|') }];
      });
      return [title === 'The file' ? '' : title.replaceAll('`', ''), new Map(rows)];
    }),
  );
}

/** Markdown as an editor shows it in a line: links as their words. */
function plainText(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}
