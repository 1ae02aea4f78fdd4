import type { Source } from '../sources.js';
import { approvalEntry } from './approvals.js';
import { denialEntry } from './denials.js';
import { discoveryEntry } from './discovery.js';
import { cancellationEntry } from './cancellations.js';
import { configurationEntry, deadLetterEntry } from './operators.js';
import { requestEntry, responseEntry } from './runs.js';
import { stepEntries } from './steps.js';
import { chosenEntry, toolsetEntry } from './turns.js';
import type { Facts, EntryDraft } from './draft-entry.js';

/** The entries for a record, at least one. The same record under the same facts gives the same entries, always. */
export function entriesOf(source: Source, facts: Facts): readonly EntryDraft[] {
  switch (source.topic) {
    case 'agent.requests':
      return [requestEntry(source)];
    case 'agent.toolsets':
      return [toolsetEntry(source.record, facts)];
    case 'agent.tool-calls':
      return [chosenEntry(source.record, facts)];
    case 'agent.steps':
      return stepEntries(source.record, facts);
    case 'agent.responses':
      return [responseEntry(source.record)];
    case 'agent.approvals':
      return [approvalEntry(source.record, source.key)];
    case 'agent.dead-letters':
      return [deadLetterEntry(source.record)];
    case 'agent.config':
      return [configurationEntry(source.record, facts)];
    case 'agent.discovery':
      return [discoveryEntry(source.record)];
    case 'agent.denials':
      return [denialEntry(source.record)];
    case 'agent.cancellations':
      return [cancellationEntry(source.record, source.key)];
  }
}
