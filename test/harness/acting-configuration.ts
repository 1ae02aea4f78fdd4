/** What the runs may use: a tool that looks and one that acts, with a model that follows a script. */
export const actingConfiguration = (model: string, effects: string): string => `
tool:
  now: { type: get_current_time, group: [work], state: analysis, available_in_states: [undefined] }
  act: { type: mcp-tool, group: [work], available_in_states: [analysis] }
policy: { allowed_tools: [now, act] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
mcp:
  servers: { effects: { url: "${effects}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
limits: { tool_seconds: 5, run_seconds: 1800 }
`;
