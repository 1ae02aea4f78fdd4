/** The state after a successful call: the tool's own, or unchanged. */
export function transition(tool: { readonly target: string | null }, state: string): string {
  return tool.target ?? state;
}
