import { useMemo, useState } from 'react';
import type { AgentRequest, GroupTool } from '@sluice/client';
import { Button, ToggleButton } from '../../ui/button.js';
import { Select, TextArea } from '../../ui/field.js';
import { Card, Row, Stack } from '../../ui/page.js';
import { Note } from '../../ui/states.js';
import { CallOutcome } from './call-outcome.js';
import { argumentsOf, draftOfFields, pathOfPointer } from './form/draft.js';
import type { Draft, FieldProblem } from './form/draft.js';
import { fieldsOf } from './form/fields.js';
import { FormFields } from './form/form.js';
import css from './tools.module.css';
import { useCall } from './use-call.js';

interface Props {
  readonly tool: GroupTool;
  readonly schema: unknown;
  /** Of the tool’s groups, those that may be asked for. */
  readonly groups: readonly string[];
}

/** Calls a tool by a form made from its schema: first what would be decided, then the call itself. */
export function CallTool({ tool, schema, groups }: Props) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const states = tool.available_in_states.filter((name) => name !== '*');
  const [state, setState] = useState(states[0] ?? 'undefined');
  const [draft, setDraft] = useState<Draft>(() => (fields === null ? {} : draftOfFields(fields, {})));
  const [json, setJson] = useState<string | null>(fields === null ? '{}' : null);
  const [problems, setProblems] = useState<readonly FieldProblem[]>([]);
  const { call, dryRun, run, stop, clear } = useCall();

  const read = (): { readonly value?: unknown; readonly problems: readonly FieldProblem[] } => {
    if (json === null) return argumentsOf(fields ?? [], draft);
    try {
      return { value: JSON.parse(json) as unknown, problems: [] };
    } catch (error) {
      return { problems: [{ path: '', message: `This is no JSON: ${error instanceof Error ? error.message : ''}` }] };
    }
  };
  const request = (): AgentRequest | null => {
    const { value, problems: found } = read();
    setProblems(found);
    if (found.length > 0) return null;
    return {
      question: `Call ${tool.key} from the console`,
      ...{ state, group: groups, tool_ids: [tool.id], connections: ['*'] },
      call: { tool: tool.id, arguments: JSON.stringify(value) },
    };
  };
  const start = (begin: (asked: AgentRequest) => void): void => {
    const asked = request();
    if (asked !== null) begin(asked);
  };
  const toForm = (): void => {
    try {
      setDraft(draftOfFields(fields ?? [], JSON.parse(json ?? '{}')));
    } catch {
      // What is no JSON fills no fields; the form keeps what it had.
    }
    setJson(null);
    setProblems([]);
  };
  const toJson = (): void => {
    setJson(JSON.stringify(argumentsOf(fields ?? [], draft).value, null, 2));
    setProblems([]);
  };
  const changed = <T,>(set: (value: T) => void) => (value: T): void => { set(value); clear(); }; // prettier-ignore
  const isTried = call.kind !== 'idle' && call.kind !== 'trying' && call.kind !== 'failed';
  const refused: readonly FieldProblem[] =
    call.kind !== 'tried' ? [] : call.tried.problems.map((one) => ({ ...one, path: pathOfPointer(one.path) }));
  const shown = [...problems, ...refused];
  const isBusy = call.kind === 'trying' || call.kind === 'calling';

  return (
    <Card
      title="Call it"
      actions={
        fields !== null && (
          <>
            <ToggleButton isSelected={json === null} onChange={(isOn) => isOn && toForm()}>
              Form
            </ToggleButton>
            <ToggleButton isSelected={json !== null} onChange={(isOn) => isOn && toJson()}>
              JSON
            </ToggleButton>
          </>
        )
      }
    >
      {states.length > 1 && (
        <div className={css['state']}>
          <Select
            label="State that the run starts in"
            value={state}
            onChange={changed(setState)}
            options={states.map((name) => ({ value: name, label: name }))}
          />
        </div>
      )}
      {json === null && fields !== null ? (
        fields.length === 0 ? (
          <p>It takes no arguments.</p>
        ) : (
          <FormFields fields={fields} draft={draft} onChange={changed(setDraft)} problems={shown} path="" />
        )
      ) : (
        <TextArea
          label="Arguments as JSON"
          isMono
          rows={8}
          value={json ?? ''}
          onChange={changed(setJson)}
          errorMessage={shown[0]?.message ?? null}
        />
      )}
      <Stack>
        <Row>
          <Button tone={isTried ? 'plain' : 'primary'} isDisabled={isBusy} onPress={() => start(dryRun)}>
            Dry run
          </Button>
          <Button
            tone={isTried ? 'primary' : 'plain'}
            isDisabled={isBusy || !isTried || (call.kind === 'tried' && call.tried.outcome === 'refused')}
            onPress={() => start(run)}
          >
            Call now
          </Button>
          {call.kind === 'calling' && <Button onPress={stop}>Stop watching</Button>}
        </Row>
        {problems.length > 0 && json === null && (
          <Note tone="bad">
            {problems.length === 1 ? 'One field has' : `${problems.length} fields have`} to be mended first.
          </Note>
        )}
        <CallOutcome call={call} tool={tool} state={state} />
      </Stack>
    </Card>
  );
}
