import { isJsonObject, type JsonObject, largestProviderData, type ModelSettings, utf8Length } from '@sluice/core';
import { answeredSearches, type Echo, type OtherPart, type TurnPart, type WireName, wireOfParts } from '@sluice/wires';

/** Who wrote what is kept, and in whose words: it goes back to no other. */
export interface Origin {
  readonly wire: WireName;
  /** The provider, the model’s name there and, where one is configured, the address. */
  readonly from: string;
}

/**
 * A part of a turn beside its calls. A text stands for its place: what it says is the turn’s thought. Where a turn
 * has several with fields of their own, each says its own.
 */
type Beside =
  | { readonly type: 'text'; readonly text?: string; readonly fields?: JsonObject }
  | { readonly type: 'reasoning'; readonly text: string; readonly fields: JsonObject }
  | Searched;

/** A search that the provider answered itself: its blocks as they came, and the tools that it showed. */
interface Searched {
  readonly type: 'search';
  readonly blocks: readonly { readonly kind: string; readonly raw: string }[];
  readonly found: readonly string[];
}

/** What is kept with one call: its own fields, and the parts that stand before it or, with the last call, behind it. */
export interface Kept {
  readonly fields?: JsonObject;
  readonly before: readonly Beside[];
  readonly after: readonly Beside[];
}

export function originOf(wire: WireName, { provider, baseUrl }: ModelSettings, name: string): Origin {
  return { wire: wireOfParts(wire), from: `${provider}/${name}${baseUrl === null ? '' : ` at ${baseUrl}`}` };
}

/**
 * For each call of a turn what its provider wants back, as JSON text; null where that is nothing, and for all where
 * one would be too large.
 */
export function providerData(parts: readonly TurnPart[], origin: Origin): readonly (string | null)[] {
  const calls: { fields: JsonObject | undefined; before: Beside[]; after: Beside[] }[] = [];
  let beside: Beside[] = [];
  let hasText = false;
  const texts = parts.filter(({ type }) => type === 'text');
  const isEachOwn =
    texts.length > 1 &&
    texts.some((part) => ownFields('echo' in part ? part.echo : undefined, origin.wire) !== undefined);
  let search: OtherPart[] = [];
  for (const part of parts) {
    if (part.type === 'other') {
      search.push(part);
      const answered = answeredSearches(search);
      if (answered.length > 0) {
        const blocks = search.filter(({ wire }) => wire === origin.wire).map(({ kind, raw }) => ({ kind, raw }));
        beside.push({ type: 'search', blocks, found: answered.flatMap(({ found }) => found) });
        search = [];
      }
      continue;
    }
    const fields = ownFields(part.echo, origin.wire);
    if (part.type === 'call') {
      calls.push({ fields, before: beside, after: [] });
      beside = [];
    } else if (part.type === 'text') {
      const own = isEachOwn ? { text: part.text } : {};
      if (!hasText || isEachOwn) beside.push({ type: 'text', ...own, ...(fields === undefined ? {} : { fields }) });
      hasText = true;
    } else if (fields !== undefined) beside.push({ type: 'reasoning', text: part.text, fields });
  }
  calls.at(-1)?.after.push(...beside);
  const isWanted = calls.some(
    ({ fields, before, after }) =>
      fields !== undefined || [...before, ...after].some((one) => one.type === 'search' || one.fields !== undefined),
  );
  return calls.map(({ fields, before, after }) => {
    if (!isWanted || (fields === undefined && before.length === 0 && after.length === 0)) return null;
    return JSON.stringify({
      from: origin.from,
      ...(fields === undefined ? {} : { fields }),
      ...(before.length === 0 ? {} : { before }),
      ...(after.length === 0 ? {} : { after }),
    });
  });
}

/**
 * Half of what a provider wants back may be worse than nothing, so one that is too large takes those of its turn with
 * it.
 */
export function isTooLarge(data: readonly (string | null)[]): boolean {
  return data.some((one) => one !== null && utf8Length(one) > largestProviderData.call);
}

function ownFields(echo: Echo | undefined, wire: WireName): JsonObject | undefined {
  if (echo?.wire !== wire || Object.keys(echo.fields).length === 0) return undefined;
  return echo.fields;
}

/** Reads back what providerData wrote for this origin; null for any other text. */
export function keptOf(data: string | null, origin: Origin): Kept | null {
  if (data === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return null;
  }
  if (!isJsonObject(value) || value['from'] !== origin.from) return null;
  const { fields } = value;
  return {
    ...(isJsonObject(fields) ? { fields } : {}),
    before: besideIn(value['before']),
    after: besideIn(value['after']),
  };
}

function besideIn(value: unknown): readonly Beside[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown): Beside[] => {
    if (!isJsonObject(one)) return [];
    const { type, text, fields } = one;
    if (type === 'search') return searchIn(one);
    if (type === 'text') {
      const own = typeof text === 'string' ? { text } : {};
      return [{ type, ...own, ...(isJsonObject(fields) ? { fields } : {}) }];
    }
    return type === 'reasoning' && typeof text === 'string' && isJsonObject(fields) ? [{ type, text, fields }] : [];
  });
}

function searchIn({ blocks, found }: JsonObject): Beside[] {
  if (!Array.isArray(blocks) || !Array.isArray(found)) return [];
  const read = blocks.flatMap((block: unknown) => {
    if (!isJsonObject(block)) return [];
    const { kind, raw } = block;
    return typeof kind === 'string' && typeof raw === 'string' ? [{ kind, raw }] : [];
  });
  return [{ type: 'search', blocks: read, found: found.filter((one): one is string => typeof one === 'string') }];
}
