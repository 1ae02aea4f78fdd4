/**
 * What the runs may use: a tool that looks and one that acts, with a model that follows a script; a call may take
 * `toolSeconds`.
 */
export const actingConfiguration = (model: string, effects: string, toolSeconds = 5): string => `
tool:
  now: { type: get_current_time, group: [work], state: analysis, available_in_states: [undefined] }
  act: { type: mcp-tool, group: [work], available_in_states: [analysis] }
policy: { allowed_tools: [now, act] }
model: { provider: openai-compatible, name: scripted, base_url: "${model}" }
mcp:
  servers: { effects: { url: "${effects}" } }
  tools: { act: { server: effects, tool: act, effect: external_side_effect, redaction: whole } }
limits: { tool_seconds: ${toolSeconds}, run_seconds: 1800 }
`;
