import type { ServerContext } from '@modelcontextprotocol/server';
import type { Incoming } from '@sluice/bus';
import { noticeOf } from '@sluice/contracts';
import type { ConfiguredTool } from '@sluice/core';
import { progressText } from './call-texts.js';
import type { ClientLog } from './client-log.js';

/** A call whose client hears how far it is. */
interface HeardCall {
  readonly tool: Pick<ConfiguredTool, 'mcp'>;
  readonly name: string;
  /** That of the request whose answer is waited for. */
  readonly context: ServerContext;
}

/**
 * Gives the client what it may hear of a call that goes on: under its progress token, and as log messages from its
 * level on. The tool’s server is heard in its own words and numbers. Of a tool without one the hops of its run are
 * the progress.
 */
export function hops({ tool, name, context }: HeardCall, log: ClientLog, heard: number): (message: Incoming) => void {
  const { notify, _meta } = context.mcpReq;
  const token = _meta?.progressToken;
  const asProgress = (params: { progress: number; total?: number; message?: string }): void => {
    if (token === undefined) return;
    const said = { method: 'notifications/progress', params: { progressToken: token, ...params } };
    void notify(said).catch(() => undefined);
  };
  let progress = heard;
  return (hop) => {
    const notice = hop.topic === 'agent.progress' ? noticeOf(hop.record) : null;
    if (notice?.kind === 'log')
      return void log.write(context, notice.level, notice.data, notice.logger).catch(() => undefined);
    if (notice?.kind === 'progress') {
      // A record may be seen twice.
      if (notice.progress <= progress) return;
      progress = notice.progress;
      const { total, message } = notice;
      return asProgress({ progress, ...(total === null ? {} : { total }), ...(message === '' ? {} : { message }) });
    }
    const message = progressText(hop);
    if (message === undefined) return;
    void log.write(context, 'debug', { tool: name, message }).catch(() => undefined);
    if (tool.mcp === null) asProgress({ progress: ++progress, message });
  };
}
