import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import { useSignedIn } from '../../session/session-provider.js';
import { Page } from '../../ui/page.js';
import { Empty, Loading } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { Caller } from './caller.js';
import { Findings } from './findings.js';
import { Matrix } from './matrix.js';
import { Versions } from './versions.js';

/** What draws graphs and edits text is loaded where it is needed. */
const States = lazy(async () => ({ default: (await import('./states.js')).States }));
const WhatIf = lazy(async () => ({ default: (await import('./what-if/what-if.js')).WhatIf }));
const later = (part: ReactNode): ReactNode => <Suspense fallback={<Loading />}>{part}</Suspense>;

/** What the configuration decides: for whom, in which state, and what would be otherwise under another one. */
export function Policy() {
  const { me } = useSignedIn();
  const { tab = 'matrix' } = useSearch({ from: '/policy' });
  const navigate = useNavigate({ from: '/policy' });
  const summary = 'Which tools a run is offered, by its groups, its state and its caller, and what would change that.';
  if (!me.is_operator)
    return (
      <Page title="Policy" summary={summary}>
        <Empty title="The policy is for operators.">
          <p>The page of each of your runs says which tools it was offered, and why not the others.</p>
        </Empty>
      </Page>
    );
  return (
    <Page title="Policy" summary={summary}>
      <Tabs
        label="Parts of the policy"
        selected={tab}
        onSelect={(next) => void navigate({ search: (search) => ({ ...search, tab: next }) })}
        tabs={[
          { id: 'matrix', name: 'Groups and states', content: () => <Matrix /> },
          { id: 'caller', name: 'As this caller', content: () => <Caller /> },
          { id: 'states', name: 'State graph', content: () => later(<States />) },
          { id: 'findings', name: 'Findings', content: () => <Findings /> },
          { id: 'versions', name: 'Versions', content: () => <Versions /> },
          { id: 'what-if', name: 'What-if', content: () => later(<WhatIf />) },
        ]}
      />
    </Page>
  );
}
