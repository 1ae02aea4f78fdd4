import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isJsonObject, printable, wellFormed, withoutHidden } from '@sluice/core';
import type { TextMode, JsonObject, JsonValue, OfferedText } from '@sluice/core';
import { textFaults } from '@sluice/schemas';

/** Texts of one server that are looked at, beside those of its tools. */
const mostTexts = 1_000;
/** Most time for one of the lists: what is offered does not depend on them. */
const listMs = 2_000;
const lists = [
  { method: 'prompts/list', member: 'prompts', needs: 'prompts', of: 'prompt' },
  { method: 'resources/list', member: 'resources', needs: 'resources', of: 'resource' },
  { method: 'resources/templates/list', member: 'resourceTemplates', needs: 'resources', of: 'template' },
] as const;
const anything = z.unknown();
/** Members of a prompt, an argument of one or a resource that a client shows, or gives a model. */
const shownMembers = ['title', 'description'] as const;

/** What a server says of itself beside its tools: its instructions, and the first page of each of its other lists. */
export async function textsOf(client: Client, endsAt: number): Promise<readonly OfferedText[]> {
  const instructions = client.getInstructions();
  const texts = instructions === undefined ? [] : [{ of: 'the text of its instructions', text: instructions }];
  const has = client.getServerCapabilities() ?? {};
  for (const { method, member, needs, of } of lists) {
    const timeout = Math.min(listMs, endsAt - Date.now());
    if (has[needs] === undefined || timeout <= 0) continue;
    // A list that does not come has no texts; that it does not come shows where a client wants it.
    const answer = await client
      .request({ method, params: {} }, anything, { timeout, maxTotalTimeout: timeout })
      .catch(() => ({}));
    texts.push(...entriesIn((answer as JsonObject)[member]).flatMap((entry) => textsIn(entry, of)));
  }
  return wellFormed(texts.slice(0, mostTexts));
}

/** Entries for clients: without hidden characters, or without the entries that have any, as configured. */
export function described(entries: readonly JsonObject[], mode: TextMode): readonly JsonObject[] {
  if (mode === 'pass') return entries;
  const held = (entry: JsonObject): boolean =>
    textsIn(entry, 'prompt').some(({ of, text }) => textFaults(text, of).length > 0);
  return (mode === 'hold_back' ? entries.filter((entry) => !held(entry)) : entries).map(cleaned);
}

function cleaned(entry: JsonObject): JsonObject {
  const clean = Object.entries(entry).map(([key, value]): [string, JsonValue] => {
    if ((shownMembers as readonly string[]).includes(key) && typeof value === 'string')
      return [key, withoutHidden(value)];
    return [key, key === 'arguments' && Array.isArray(value) ? value.map(cleanedArgument) : value];
  });
  return Object.fromEntries(clean);
}

function cleanedArgument(value: JsonValue): JsonValue {
  return isJsonObject(value) ? cleaned(value) : value;
}

function entriesIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).slice(0, mostTexts).filter(isJsonObject) : [];
}

function textsIn(entry: JsonObject, of: string): readonly OfferedText[] {
  const { name, arguments: args } = entry;
  const called = typeof name === 'string' ? ` ${JSON.stringify(printable(name))}` : '';
  const own = shownMembers.flatMap((member) => {
    const text = entry[member];
    return typeof text === 'string' ? [{ of: `the ${member} of its ${of}${called}`, text }] : [];
  });
  const inside = entriesIn(args).flatMap((argument) => textsIn(argument, `argument of the ${of}${called},`));
  return [...own, ...inside];
}
