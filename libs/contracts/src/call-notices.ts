import { logLevels } from '@sluice/core';
import type { CallNotice, JsonObject, LogLevel, PassedOnList } from '@sluice/core';
import type { AgentProgress } from '@sluice/records';
import { agentProgress } from './generated/make.js';
import { jsonObjectIn } from './json-object.js';
import { watchedIn } from './watched-resources.js';
import type { WatchedResource } from './watched-resources.js';

/** What a record of agent.progress has for a notice of a call. */
export function noticeRecord(notice: CallNotice): Pick<AgentProgress, 'kind' | 'text' | 'notice'> {
  switch (notice.kind) {
    case 'progress': {
      const { progress, total, message } = notice;
      return { kind: 'tool_progress', text: message, notice: JSON.stringify({ progress, total }) };
    }
    case 'log': {
      const { level, logger, data } = notice;
      return { kind: 'tool_log', text: '', notice: JSON.stringify({ level, logger, data }) };
    }
  }
}

/** The notice that a record of agent.progress has; null where it has none, or one that this version does not know. */
export function noticeOf({ kind, text, notice }: Pick<AgentProgress, 'kind' | 'text' | 'notice'>): CallNotice | null {
  const said = notice === null ? null : jsonObjectIn(notice);
  if (said === null) return null;
  if (kind === 'tool_progress') {
    const { progress, total } = said;
    if (typeof progress !== 'number') return null;
    return { kind: 'progress', progress, total: typeof total === 'number' ? total : null, message: text };
  }
  if (kind !== 'tool_log') return null;
  const { level, logger, data = null } = said;
  if (!logLevels.includes(level as LogLevel)) return null;
  return { kind: 'log', level: level as LogLevel, logger: typeof logger === 'string' ? logger : null, data };
}

/** Under this key every door reads what servers say to all of their clients. */
export const serversKey = 'mcp-servers';

/** The record of agent.progress that says that a list of a server is another one now. */
export function listChangedRecord(server: string, list: PassedOnList, at: number): AgentProgress {
  return serverChanged({ server, list }, at);
}

/** The record of agent.progress that says that a resource changed. */
export function resourceUpdatedRecord({ server, uri }: WatchedResource, at: number): AgentProgress {
  return serverChanged({ server, uri }, at);
}

function serverChanged(said: JsonObject, at: number): AgentProgress {
  return agentProgress({
    ...{ requestId: '', sessionId: serversKey, iteration: 0, kind: 'server_changed', at },
    notice: JSON.stringify(said),
  });
}

/** Which list of which server a record says is another one now; null for any other record. */
export function listChangedIn({
  kind,
  notice,
}: Pick<AgentProgress, 'kind' | 'notice'>): { readonly server: string; readonly list: PassedOnList } | null {
  const said = kind === 'server_changed' && notice !== null ? jsonObjectIn(notice) : null;
  const { server, list } = said ?? {};
  return typeof server === 'string' && (list === 'resources' || list === 'prompts') ? { server, list } : null;
}

/** Which resource of which server a record says has changed; null for any other record. */
export function resourceUpdatedIn({ kind, notice }: Pick<AgentProgress, 'kind' | 'notice'>): WatchedResource | null {
  return kind === 'server_changed' && notice !== null ? watchedIn(notice) : null;
}
