// Generated from schemas/ by `npm run generate`. Do not edit.
/** What a tool sees of the request, by `seen_by` in schemas/AgentRequest.avsc. */
export type RequestOfTool = object;
