/** Calls of one session of the protocol are one session of tools too. */
export function sessionOfCalls(session: string): string {
  return `mcp-${session}`;
}
