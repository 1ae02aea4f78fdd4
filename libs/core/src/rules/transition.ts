/** The state after a successful call: the tool's own, or unchanged (spec/tool-groups.md §4.2 "State Transition Logic"). */
export function transition(tool: { readonly target: string | null }, state: string): string {
  return tool.target ?? state;
}
