import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { GroupTool } from '@sluice/client';
import { groupsQuery, offeredQuery, toolsOfGroups } from '../../data/tools.js';
import { Json } from '../../ui/json.js';
import { Card, Columns, Page } from '../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { CallTool } from './call-tool.js';
import { Parameters } from './parameters.js';
import { ToolFacts } from './facts.js';
import { ToolUse } from './use.js';

/** One tool: what it does and takes, where it is available, and a form to call it. */
export function ToolPage() {
  const { tool: key } = useParams({ from: '/tools/$tool' });
  const groups = useQuery(groupsQuery());
  if (groups.isPending) return <Page title={key}><Loading label="Loading the tool" /></Page>; // prettier-ignore
  if (groups.isError)
    return (
      <Page title={key}>
        <RequestProblem error={groups.error} again={() => void groups.refetch()} />
      </Page>
    );
  const tool = toolsOfGroups(groups.data).find((each) => each.key === key);
  if (tool === undefined)
    return (
      <Page title={key}>
        <Empty title="There is no such tool in a group that you may ask for.">
          <p>
            The configuration may have changed. <Link to="/tools">All tools</Link>
          </p>
        </Empty>
      </Page>
    );
  return <Found key={key} tool={tool} askable={groups.data.groups.map(({ name }) => name)} />;
}

function Found({ tool, askable }: { readonly tool: GroupTool; readonly askable: readonly string[] }) {
  const offered = useQuery(offeredQuery(tool, askable));
  const groups = askable.filter((name) => tool.groups.includes(name));
  return (
    <Page title={tool.key} summary={tool.description}>
      <Columns>
        <Card title="About">
          <ToolFacts tool={tool} />
        </Card>
        <Card title="What it takes">
          {offered.isPending && <Loading />}
          {offered.isError && <RequestProblem error={offered.error} again={() => void offered.refetch()} />}
          {offered.data === null && (
            <Note>
              No run is offered it now: policy, a rule or a missing connection hides it in every state looked at, so its
              arguments are not shown.
            </Note>
          )}
          {offered.data && (
            <>
              <Parameters schema={offered.data.input_schema} />
              <details>
                <summary>JSON schema</summary>
                <Json value={offered.data.input_schema} label={`JSON schema of ${tool.key}`} />
              </details>
            </>
          )}
        </Card>
      </Columns>
      <ToolUse tool={tool.key} />
      {offered.data && <CallTool tool={tool} schema={offered.data.input_schema} groups={groups} />}
    </Page>
  );
}
