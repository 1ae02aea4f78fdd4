/** What prompts are made of, in tokens; null where they were not counted. */
interface PromptTokens {
  readonly definitionTokens: number | null;
  readonly resultTokens: number | null;
  readonly otherTokens: number | null;
}

/** The sums after one more prompt, or after an agent’s; null stays null until something is counted. */
export function withPromptTokens(before: PromptTokens, added: PromptTokens | null): PromptTokens {
  const sum = (name: keyof PromptTokens): number | null => {
    const more = added?.[name] ?? null;
    return more === null ? before[name] : (before[name] ?? 0) + more;
  };
  return {
    definitionTokens: sum('definitionTokens'),
    resultTokens: sum('resultTokens'),
    otherTokens: sum('otherTokens'),
  };
}

export function promptTokensOf({ definitionTokens, resultTokens, otherTokens }: PromptTokens): PromptTokens {
  return { definitionTokens, resultTokens, otherTokens };
}
