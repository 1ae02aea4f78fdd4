// Generated from schemas/ by `npm run generate`. Do not edit.
/** What a tool sees of the request, by `seen_by` in schemas/AgentRequest.avsc. */
export type RequestOfTool = object;
/** Fields of a request that the context of each tool has, where there is one. */
export const requestFieldsOfTools = [] as const;
/** Fields of a request that its entry in the audit has, where there is one. */
export const requestFieldsOfAudit = ['strategy', 'agent'] as const;
