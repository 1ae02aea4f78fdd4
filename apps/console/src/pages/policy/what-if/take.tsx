import { useState } from 'react';
import { useSignedIn } from '../../../session/session-provider.js';
import { Button } from '../../../ui/button.js';
import { download } from '../../../ui/download.js';
import { Command } from '../../../ui/json.js';
import { Card, Row } from '../../../ui/page.js';
import { Note } from '../../../ui/states.js';
import { ApplyCandidate } from './apply.js';

const fileName = 'candidate.yaml';

interface Props {
  /** What is in force: its file, its version and its text. */
  readonly source: string;
  readonly version: string;
  readonly inForce: string;
  readonly text: string;
  readonly isOk: boolean;
}

/** Takes the candidate along: as a file, with the command that puts it in force. */
export function TakeCandidate({ source, version, inForce, text, isOk }: Props) {
  const { information } = useSignedIn();
  const [wasSaved, setWasSaved] = useState(false);
  const save = (): void => {
    download(fileName, text, 'application/yaml');
    setWasSaved(true);
  };
  return (
    <Card title="Put it in force">
      <p>
        Nothing above changes what is in force. Save the file beside {source} and apply it by the command
        {information.bus === 'embedded' ? ', or here' : ''}:
      </p>
      <Row>
        <Button onPress={save}>Save {fileName}</Button>
        {information.bus === 'embedded' && (
          <ApplyCandidate inForce={inForce} version={version} text={text} isDisabled={!isOk || text === inForce} />
        )}
        {wasSaved && <span role="status">Saved.</span>}
      </Row>
      <Command text={`npx sluice config apply ${fileName}`} />
      {!isOk && <Note tone="warn">It has mistakes; the command would refuse it.</Note>}
    </Card>
  );
}
