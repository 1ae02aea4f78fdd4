import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { DescribedRule } from '@sluice/client';
import { configurationQuery } from '../../data/configurations.js';
import { Card, Row } from '../../ui/page.js';
import { Loading, RequestProblem } from '../../ui/states.js';
import { Tag } from '../../ui/tag.js';
import css from './rules.module.css';

/** Tools of a rule that are named. */
const shownTools = 12;

/** What the policy says, and each rule about availability, in words. */
export function Rules() {
  const view = useQuery(configurationQuery());
  if (view.isPending) return <Loading label="Loading the rules" />;
  if (view.isError) return <RequestProblem error={view.error} again={() => void view.refetch()} />;
  const { policy, rules, config_version: version } = view.data;
  return (
    <>
      <Card title="Policy in words" actions={<Tag>{version}</Tag>}>
        <ul className={css['sentences']}>
          {policy.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Card>
      <Card title={rules.length === 0 ? 'Rules' : `Rules (${rules.length})`}>
        {rules.length === 0 ? (
          <p className={css['muted']}>
            There are none: groups, states and the policy alone decide. Rules under “rules” make tools depend on the
            caller, the time, the load or what the run did before.
          </p>
        ) : (
          rules.map((rule) => <Rule key={rule.name} rule={rule} />)
        )}
      </Card>
    </>
  );
}

function Rule({ rule: { name, words, tools } }: { readonly rule: DescribedRule }) {
  return (
    <section className={css['rule']}>
      <h3>{name}</h3>
      <ul className={css['sentences']}>
        {words.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <Row>
        <span className={css['muted']}>About</span>
        {tools.slice(0, shownTools).map((key) => (
          <Link key={key} to="/tools/$tool" params={{ tool: key }}>
            <Tag tone="accent">{key}</Tag>
          </Link>
        ))}
        {tools.length > shownTools && <span className={css['muted']}>and {tools.length - shownTools} more</span>}
      </Row>
    </section>
  );
}
