import { Button } from './button.js';
import { count } from './format.js';

interface Props {
  readonly shown: number;
  readonly hasMore: boolean;
  readonly error: Error | null;
  readonly more: () => void;
}

/** Below the last row of a long list: that more is on its way, that this is all, or why the next rows did not come. */
export function LongListEnd({ shown, hasMore, error, more }: Props) {
  if (error !== null)
    return (
      <span role="alert">
        The next rows could not be read: {error.message}{' '}
        <Button isSmall onPress={more}>
          Try again
        </Button>
      </span>
    );
  return <span>{hasMore ? 'Reading more …' : `That is all: ${count(shown)}.`}</span>;
}
