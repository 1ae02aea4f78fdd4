import type { GroupTool } from '@sluice/client';
import { Tag } from './tag.js';

type Effect = GroupTool['effect'];

const effects = {
  read_only: { name: 'read only', tone: 'good' },
  state_change: { name: 'state change', tone: 'note' },
  external_side_effect: { name: 'external side effect', tone: 'warn' },
} as const;

/** What a call changes, by a name and a colour. */
export function EffectTag({ effect }: { readonly effect: Effect }) {
  if (effect === null) return <Tag>not known</Tag>;
  return <Tag tone={effects[effect].tone}>{effects[effect].name}</Tag>;
}

export const effectOptions = Object.entries(effects).map(([value, { name }]) => ({ value, label: name }));
