import { useState } from 'react';
import { Button } from '../../../ui/button.js';
import { count, dateTime } from '../../../ui/format.js';
import { Card, Columns, Figure } from '../../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../../ui/states.js';
import { Decisions } from './decisions.js';
import { about, countedBy, groupings } from './report.js';
import type { Counted, Grouping, WhatIfReport } from './report.js';
import type { WhatIfState } from './use-what-if.js';
import css from './what-if.module.css';

interface Chosen {
  readonly grouping: Grouping;
  readonly name: string;
}

/** Which decisions would be otherwise, while they are found and once all were looked at. */
export function Outcome({ state, onCancel }: { readonly state: WhatIfState; readonly onCancel: () => void }) {
  if (state.kind === 'idle') return null;
  if (state.kind === 'failed') return <RequestProblem error={state.error} />;
  const { report, kind } = state;
  return (
    <Card
      title="What would be otherwise"
      actions={kind === 'running' && <Button isSmall onPress={onCancel}>Cancel</Button>} // prettier-ignore
    >
      {kind === 'running' && <Loading label="Making recorded decisions again" />}
      {kind === 'cancelled' && <Note>It was cancelled. What was found until then stands below.</Note>}
      <Figures report={report} />
      {report.decisions.length > 0 && <Found report={report} />}
      {kind === 'done' && <Judgement report={report} />}
    </Card>
  );
}

function Figures({ report: { considered, altered, summary } }: { readonly report: WhatIfReport }) {
  return (
    <Columns>
      <Figure
        name="Decisions looked at"
        value={count(considered)}
        note={summary === null ? undefined : `${dateTime(summary.since)} to ${dateTime(summary.until)}`}
      />
      <Figure
        name="Would be otherwise"
        value={count(altered)}
        note={considered > 0 && `${share(altered, considered)} of them`}
      />
    </Columns>
  );
}

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(part === 0 ? 0 : 1)} %`;

function Found({ report }: { readonly report: WhatIfReport }) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const { decisions, summary } = report;
  const shown = about(decisions, chosen);
  return (
    <>
      <div className={css['groupings']}>
        {groupings.map((grouping) => (
          <Counts
            key={grouping}
            grouping={grouping}
            counted={summary === null || summary.left_out === 0 ? countedBy(decisions, grouping) : summary.by[grouping]}
            chosen={chosen}
            onChoose={setChosen}
          />
        ))}
      </div>
      <Decisions decisions={shown} />
    </>
  );
}

const shownNames = 8;
const titles = { tool: 'By tool', group: 'By group', user: 'By user', rule: 'Calls refused, by rule' } as const;

interface CountsProps {
  readonly grouping: Grouping;
  readonly counted: readonly Counted[];
  readonly chosen: Chosen | null;
  readonly onChoose: (chosen: Chosen | null) => void;
}

function Counts({ grouping, counted, chosen, onChoose }: CountsProps) {
  const most = counted[0]?.count ?? 1;
  return (
    <section>
      <h3>{titles[grouping]}</h3>
      {counted.length === 0 && <p className={css['about']}>none</p>}
      <ul className={css['counts']}>
        {counted.slice(0, shownNames).map(({ name, count: times }) => {
          const isChosen = chosen?.grouping === grouping && chosen.name === name;
          return (
            <li key={name}>
              <button
                type="button"
                aria-pressed={isChosen}
                onClick={() => onChoose(isChosen ? null : { grouping, name })}
              >
                <span className={css['bar']} style={{ width: `${(100 * times) / most}%` }} aria-hidden="true" />
                <span className={css['name']}>{name}</span>
                <span>{count(times)}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {counted.length > shownNames && <p className={css['about']}>and {count(counted.length - shownNames)} more</p>}
    </section>
  );
}

function Judgement({ report: { considered, altered, decisions, summary } }: { readonly report: WhatIfReport }) {
  if (summary === null) return <Note tone="warn">The answer ended early. Ask again.</Note>;
  const { left_out: left, not_replayable: notReplayable, undecodable, is_whole: isWhole } = summary;
  return (
    <>
      {considered === 0 && (
        <Empty title="No decision was recorded in this time.">
          <p>Choose a longer one, or ask a question first.</p>
        </Empty>
      )}
      {considered > 0 && altered === 0 && <Note tone="good">Every recorded decision would be the same.</Note>}
      {altered > 0 && decisions.length === 0 && left === 0 && (
        <Note tone="good">Those of this run would be the same.</Note>
      )}
      {left > 0 && <Note>{count(left)} more differences were counted and are not listed.</Note>}
      {notReplayable > 0 && (
        <Note>{count(notReplayable)} decisions cannot be made again, since the records lack something of them.</Note>
      )}
      {undecodable > 0 && <Note tone="warn">{count(undecodable)} records could not be read.</Note>}
      {!isWhole && <Note tone="warn">The time was up before all were looked at. Choose a shorter time.</Note>}
    </>
  );
}
