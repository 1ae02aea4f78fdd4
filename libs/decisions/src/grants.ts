import { normaliseState } from '@sluice/core';
import type { GrantedTurn } from '@sluice/core';
import type { ToolCall, Toolset } from '@sluice/contracts';

/** The turn that a record’s grant must be for. */
export function turnOf(record: Toolset | ToolCall): GrantedTurn {
  if ('offered' in record) return { ...record, state: normaliseState(record.request.state), tools: record.offered };
  return { ...record, tools: record.tools.map((tool) => tool.id) };
}
