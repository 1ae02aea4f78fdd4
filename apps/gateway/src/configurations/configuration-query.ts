import { cursorOf, invalid, limitOf, mostListed, parametersOf } from '../lists/list-query.js';

/** The parameters of `GET /v1/configurations`. */
export const configurationParameters = {
  limit: `Configurations a page, 1 to ${mostListed}; 50 unless given.`,
  cursor: '`next_cursor` of the page before.',
} as const;

/** Those of `GET /v1/configurations/{config_version}`. */
export const configurationViewParameters = {
  document: '`true`: with the compiled configuration as JSON text.',
} as const;

/** Those of `GET /v1/configurations/{config_version}/diff`. */
export const differenceParameters = {
  from: 'The version to compare with, or `current`; without it the one that was in force before.',
} as const;

/** The page’s length, and how many of all versions, the oldest first, are behind it; null for the first page. */
export function configurationQuery(query: Readonly<Record<string, unknown>>): {
  readonly limit: number;
  readonly before: number | null;
} {
  const { limit, cursor } = parametersOf(query, configurationParameters);
  return { limit: limitOf(limit), before: cursorOf(cursor)?.startedAt ?? null };
}

export function wantsDocument(query: Readonly<Record<string, unknown>>): boolean {
  const { document = 'false' } = parametersOf(query, configurationViewParameters);
  if (!['true', 'false'].includes(document)) throw invalid('document must be true or false.');
  return document === 'true';
}
