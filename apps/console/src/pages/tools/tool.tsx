import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { GroupTool } from '@sluice/client';
import { configurationQuery } from '../../data/configurations.js';
import { toolsOfGroups, groupsQuery, offeredQuery, schemaQuery } from '../../data/tools.js';
import { useSignedIn } from '../../session/session-provider.js';
import { Json } from '../../ui/json.js';
import { Card, Columns, Page } from '../../ui/page.js';
import { Empty, Loading, Note, RequestProblem } from '../../ui/states.js';
import { Bounds } from './bounds.js';
import { CallTool } from './call-tool.js';
import { Parameters } from './parameters.js';
import { ToolFacts } from './facts.js';
import { ToolUse } from './use.js';

/** One tool: what it does and takes, where it is available, and a form to call it. */
export function ToolPage() {
  const { tool: key } = useParams({ from: '/tools/$tool' });
  const { me } = useSignedIn();
  const groups = useQuery(groupsQuery());
  const view = useQuery({ ...configurationQuery(), enabled: me.is_operator });
  if (groups.isPending || view.isLoading) return <Page title={key}><Loading label="Loading the tool" /></Page>; // prettier-ignore
  if (groups.isError)
    return (
      <Page title={key}>
        <RequestProblem error={groups.error} again={() => void groups.refetch()} />
      </Page>
    );
  const tool = toolsOfGroups(groups.data, view.data?.tools ?? []).find((each) => each.key === key);
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

/** For operators with what bounds narrow of the tool’s own schema, which they may read. */
function Taken({ tool, schema }: { readonly tool: GroupTool; readonly schema: unknown }) {
  const { me } = useSignedIn();
  const { data: configured } = useQuery({ ...schemaQuery(tool.key), enabled: me.is_operator });
  return (
    <>
      <Parameters schema={schema} configured={configured} />
      <details>
        <summary>JSON schema</summary>
        <Json value={schema} label={`JSON schema of ${tool.key}`} />
      </details>
    </>
  );
}

/** Operators see what it takes, and why no run is offered it. */
function NotOffered({ tool }: { readonly tool: GroupTool }) {
  const { me } = useSignedIn();
  const schema = useQuery({ ...schemaQuery(tool.key), enabled: me.is_operator });
  const state = tool.available_in_states.find((name) => name !== '*');
  return (
    <>
      <Note tone="warn">
        No run is offered it now: policy, a rule or a missing connection hides it, so it cannot be called here.{' '}
        {me.is_operator && (
          <Link to="/policy" search={{ tab: 'caller', ...(state === undefined ? {} : { state }) }}>
            See what would open it
          </Link>
        )}
      </Note>
      {schema.data != null && <Taken tool={tool} schema={schema.data} />}
    </>
  );
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
          {offered.data === null && <NotOffered tool={tool} />}
          {offered.data && <Taken tool={tool} schema={offered.data.input_schema} />}
        </Card>
      </Columns>
      <Bounds tool={tool.key} />
      <ToolUse tool={tool.key} />
      {offered.data && <CallTool tool={tool} schema={offered.data.input_schema} groups={groups} />}
    </Page>
  );
}
