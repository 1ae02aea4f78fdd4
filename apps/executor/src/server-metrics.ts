import type { Configuration } from '@sluice/core';
import type { Metrics } from '@sluice/host';
import type { McpServerStatus } from '@sluice/hub';

/** Shows the tools of each server of the configuration in force; servers that are in it no more are forgotten. */
export function showServerTools({ mcpServers, tools }: Configuration, metrics: Metrics): void {
  metrics.mcpServerTools.reset();
  for (const { id } of mcpServers) {
    const own = tools.filter(({ mcp }) => mcp?.server === id && mcp.kind === undefined);
    const offered = own.filter(({ spec }) => spec !== null).length;
    metrics.mcpServerTools.set({ server: id, status: 'offered' }, offered);
    metrics.mcpServerTools.set({ server: id, status: 'withheld' }, own.length - offered);
  }
}

/** Reads the state of the servers whenever the metrics are read. */
export function showServerStates(status: () => readonly McpServerStatus[], metrics: Metrics): void {
  const gauge = metrics.mcpServerReady as typeof metrics.mcpServerReady & { collect?: () => void };
  gauge.collect = () => {
    gauge.reset();
    for (const { server, state } of status()) gauge.set({ server }, state === 'ready' ? 1 : 0);
  };
}
