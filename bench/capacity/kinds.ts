/** What a run does, of those that are measured. */
export const kinds = ['answer', 'read', 'effect', 'three', 'call'] as const;
export type Kind = (typeof kinds)[number];

/** How its request comes: by a producer of one’s own, over HTTP until it has ended, or by an MCP client. */
export const doors = ['log', 'http', 'mcp'] as const;
export type Door = (typeof doors)[number];

export const kindWords: Readonly<Record<Kind, string>> = {
  answer: 'an answer without tools',
  read: 'one call that reads, and an answer',
  effect: 'one call with an effect, and an answer',
  three: 'three calls that read, one after the other, and an answer',
  call: 'a call without a model that reads (`call`)',
};

const ofDoors = (of: Readonly<Record<Kind, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(doors.flatMap((door) => kinds.map((kind) => [`${door} ${kind}`, of[kind]])));

/** How often a run of each name asks the model, and how often it calls a tool. */
export const turnsOf = ofDoors({ answer: 1, read: 2, effect: 2, three: 4, call: 0 });
export const callsOf = ofDoors({ answer: 0, read: 1, effect: 1, three: 3, call: 1 });

/** The request of a run, as JSON of an AgentRequest. */
export function requestOf(kind: Kind, id: string): object {
  const ids = { request_id: id, session_id: id };
  switch (kind) {
    case 'answer':
      return { ...ids, question: 'How is the entry 4711? calls 0', group: [] };
    case 'read':
      return { ...ids, question: 'How is the entry 4711? calls 1', group: ['read'] };
    case 'effect':
      return { ...ids, question: 'Close the entry 4711. calls 1', group: ['effect'] };
    case 'three':
      return { ...ids, question: 'How are the entries 4711 to 4713? calls 3', group: ['read'] };
    case 'call':
      return { ...ids, question: 'look', group: ['read'], call: { tool: 'look', arguments: '{}' } };
  }
}

/** Its tools are those of bench/capacity/outside.mjs at the port, and so is its model. */
export const configurationAt = (port: number): string => `
tool:
  look: { type: mcp-tool, group: [read] }
  act: { type: mcp-tool, group: [effect] }
mcp:
  servers: { outside: { url: 'http://127.0.0.1:${port}/mcp' } }
  tools:
    look: { server: outside, tool: look, effect: read_only, redaction: whole }
    act: { server: outside, tool: act, effect: external_side_effect, redaction: whole }
policy: { allowed_tools: [look, act] }
model: { provider: openai-compatible, name: outside, base_url: 'http://127.0.0.1:${port}/v1' }
`;
