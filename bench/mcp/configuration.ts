/** Two tools of the upstream server, one to read by and one to act by without an approval, and others up to `tools`. */
export function configuration(upstream: string, tools = 2): string {
  const others = Array.from({ length: tools - 2 }, (_, n) => `t${n}`);
  const about = (key: string): string => `description: "Tells the time in place ${key}", group: [work]`;
  return `
tool:
  ping: { type: mcp-tool, group: [work] }
  act: { type: mcp-tool, group: [work] }
${others.map((key) => `  ${key}: { type: get_current_time, ${about(key)} }`).join('\n')}
mcp:
  servers: { upstream: { url: '${upstream}/mcp' } }
  tools:
    ping: { server: upstream, tool: ping, effect: read_only, redaction: whole }
    act: { server: upstream, tool: act, effect: external_side_effect, redaction: whole }
policy: { allowed_tools: [ping, act${others.map((key) => `, ${key}`).join('')}] }
limits: { max_iterations: 1000 }
`;
}
