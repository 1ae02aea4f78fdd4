/**
 * The tool that stands for those that were left out, in words of JSON Schema; the proxy writes it in the provider’s
 * shape.
 */
export interface SearchTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: {
    readonly type: 'object';
    readonly properties: Readonly<Record<'query', { readonly type: 'string'; readonly description: string }>>;
    readonly required: readonly ['query'];
  };
}

export function searchToolOf(name: string): SearchTool {
  return {
    name,
    description:
      'Finds tools that are not shown yet. Call it first when none of the tools shown does what is needed: the tools it finds can be called in the next step.',
    parameters: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description:
            'What to look for in names, descriptions and parameters of tools: a regular expression without regard to case, such as "file|directory", or a few words.',
        },
      },
      required: ['query'],
    },
  };
}

/** The query of a call of the search tool: blank where the model wrote none. */
export function queryOf(argumentsText: string): string {
  try {
    const value = JSON.parse(argumentsText) as unknown;
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null) return '';
    const { query } = value as { readonly query?: unknown };
    return typeof query === 'string' ? query : '';
  } catch {
    return '';
  }
}

/** Characters of a query. A model that runs away writes a million. */
export const longestSearch = 2_000;

/** What the model reads where its query is longer. */
export function tooLongText(length: number): string {
  return `Nothing was searched: the query has ${String(length)} characters, and a search takes ${String(longestSearch)} at most. Search again with a few words or a short pattern.`;
}

/** What the model reads as the result of a search. */
export function searchResultText(
  query: string,
  found: readonly { readonly name: string; readonly description: string }[],
): string {
  if (found.length === 0)
    return `No tool matches ${JSON.stringify(query)}. Search again with other or fewer words, or answer without a tool.`;
  const lines = found.map(({ name, description }) => `- ${name}: ${firstLine(description)}`);
  return `${found.length === 1 ? 'This tool matches and can' : `These ${found.length} tools match and can`} be called now:\n${lines.join('\n')}`;
}

const longestLine = 160;

function firstLine(description: string): string {
  const line = description.trim().split('\n', 1)[0] ?? '';
  if (line === '') return 'no description';
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}
