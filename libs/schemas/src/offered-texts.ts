import {
  addressesModel,
  cut,
  hiddenIn,
  isDeeperThan,
  isJsonObject,
  printable,
  quote,
  withoutHidden,
} from '@sluice/core';
import type { TextMode, JsonObject, JsonValue, OfferedTool } from '@sluice/core';
import { deepestSchema, escaped } from './input-schema.js';

/** What is wrong with a text of a server, as a sentence, and whether taking characters out mends it. */
interface TextFault {
  readonly sentence: string;
  readonly kind: 'hidden' | 'hidden in a value' | 'addresses the model';
}

/** Keywords whose text is for readers, and means nothing to a validator. */
const annotations = new Set(['title', 'description', '$comment']);
/** Keywords that hold schemas by names of the server’s choice. */
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords that hold values. */
const values = new Set(['default', 'const', 'enum', 'examples', 'example']);
/** Characters of a phrase, and code points, that are quoted. */
const quotedPhrase = 80;
const quotedPoints = 5;

/** A tool as it is offered on, with what there was to say of its texts; held back where `heldBack` says why. */
interface LookedOver {
  readonly tool: OfferedTool;
  readonly sentences: readonly string[];
  readonly heldBack: string | null;
}

/**
 * Looks over every text of a tool that a model or a client reads. Hidden characters are taken out of
 * descriptions and titles; a name or a value cannot be changed, so the tool is held back for one there. `own` says
 * that the configuration has a description of its own in place of the server’s.
 */
export function lookOver(offered: OfferedTool, mode: TextMode, own = false): LookedOver {
  const { description, title, inputSchema, outputSchema } = offered;
  const faults = [
    ...(own ? [] : faultsIn(description, 'Its description')),
    ...(title === undefined ? [] : faultsIn(title, 'Its title')),
    ...faultsOfSchema(inputSchema, 'input'),
    ...(outputSchema === null ? [] : faultsOfSchema(outputSchema, 'output')),
  ];
  const sentences = faults.map(({ sentence }) => sentence);
  const holding = mode === 'hold_back' ? faults : faults.filter(({ kind }) => kind === 'hidden in a value');
  const { title: _, ...rest } = offered;
  const shown = title === undefined ? '' : forPeople(title, mode).trim();
  const tool = {
    ...rest,
    description: forPeople(description, mode),
    ...(shown === '' ? {} : { title: shown }),
  };
  if (mode === 'pass') return { tool, sentences, heldBack: null };
  const schemas = {
    inputSchema: cleanSchema(inputSchema),
    outputSchema: outputSchema === null ? null : cleanSchema(outputSchema),
  };
  return { tool: { ...tool, ...schemas }, sentences, heldBack: holding[0]?.sentence ?? null };
}

/** A text that is passed on as it is still steers no terminal. */
function forPeople(text: string, mode: TextMode): string {
  return mode === 'pass' ? printable(text) : withoutHidden(text);
}

/** What there is to say of one text, a sentence each. `where` begins them, as in “Its description”. */
export function textFaults(text: string, where: string): readonly string[] {
  return faultsIn(text, where).map(({ sentence }) => sentence);
}

function faultsIn(text: string, where: string, kind: TextFault['kind'] = 'hidden'): readonly TextFault[] {
  const points = hiddenIn(text);
  const phrase = addressesModel(text);
  const more = points.length > quotedPoints ? ', …' : '';
  const shown = points.slice(0, quotedPoints).join(', ');
  const sentence = `${where} has characters that a reader does not see: ${shown}${more}.`;
  const said = phrase === null ? '' : quote(cut(printable(phrase), quotedPhrase));
  return [
    ...(points.length === 0 ? [] : [{ kind, sentence }]),
    ...(phrase === null
      ? []
      : [{ kind: 'addresses the model' as const, sentence: `${where} speaks to the model: ${said}.` }]),
  ];
}

function faultsOfSchema(schema: JsonObject, which: string): readonly TextFault[] {
  // It is refused for that, and looked at no further.
  if (isDeeperThan(schema, deepestSchema)) return [];
  const faults: TextFault[] = [];
  visit(schema, '', (text, path, isText) => {
    const where = `The text at ${printable(withoutHidden(path))} of its ${which} schema`;
    faults.push(...faultsIn(text, where, isText ? 'hidden' : 'hidden in a value'));
  });
  return faults;
}

/** What a part of a schema is: a schema, schemas by names, or a value as it is. */
type Held = 'schema' | 'schemas' | 'value';

function inner(key: string, holds: Held): Held {
  if (holds !== 'schema') return holds === 'schemas' ? 'schema' : 'value';
  return values.has(key) ? 'value' : maps.has(key) ? 'schemas' : 'schema';
}

/** Calls `say` with every text of a schema, names among them. */
function visit(
  schema: JsonValue,
  path: string,
  say: (text: string, path: string, isText: boolean) => void,
  holds: Held = 'schema',
): void {
  if (typeof schema === 'string') return say(schema, path, false);
  if (Array.isArray(schema))
    return (schema as readonly JsonValue[]).forEach((one, at) => visit(one, `${path}/${String(at)}`, say, holds));
  if (!isJsonObject(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    const inside = `${path}/${escaped(key)}`;
    say(key, inside, false);
    if (holds === 'schema' && annotations.has(key) && typeof value === 'string') say(value, inside, true);
    else visit(value, inside, say, inner(key, holds));
  }
}

function cleanSchema(schema: JsonObject): JsonObject {
  return isDeeperThan(schema, deepestSchema) ? schema : (cleaned(schema) as JsonObject);
}

function cleaned(schema: JsonValue, holds: Held = 'schema'): JsonValue {
  if (holds === 'value') return schema;
  if (Array.isArray(schema)) return (schema as readonly JsonValue[]).map((one) => cleaned(one, holds));
  if (!isJsonObject(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] =>
    holds === 'schema' && annotations.has(key) && typeof value === 'string'
      ? [key, withoutHidden(value)]
      : [key, cleaned(value, inner(key, holds))],
  );
  return Object.fromEntries(entries);
}
