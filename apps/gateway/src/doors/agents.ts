/** The agents that a client may name. */
export function agentNames(): readonly string[] {
  return ['default'];
}
