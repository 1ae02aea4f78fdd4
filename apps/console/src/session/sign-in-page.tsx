import { useState } from 'react';
import type { FormEvent } from 'react';
import { Button } from '../ui/button.js';
import { TextField } from '../ui/field.js';
import { Note } from '../ui/states.js';
import { session } from './session.js';
import type { ConsoleInformation } from './session.js';
import css from './sign-in-page.module.css';

interface Props {
  readonly information: ConsoleInformation;
  readonly message: string | null;
}

/** How one signs in to this gateway. */
export function SignInPage({ information, message }: Props) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState(message);
  const [busy, setBusy] = useState(false);
  const { kind } = information.sign_in;

  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await act();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const code = /#sign-in=([\w.~-]+)/.exec(text)?.[1];
    void attempt(() => (code === undefined ? session.signInByToken(text.trim()) : session.signInByLink(code)));
  };

  return (
    <main className={css['page']}>
      <div className={css['card']}>
        <h1>Sign in to Sluice</h1>
        {problem !== null && <Note tone="bad">{problem}</Note>}
        {kind === 'oidc' && (
          <Button tone="primary" isDisabled={busy} onPress={() => void attempt(() => session.signInAtIssuer())}>
            Sign in at {new URL(information.sign_in.oidc?.issuer ?? window.location.origin).host}
          </Button>
        )}
        {kind === 'local' && (
          <p>
            <code>npm start</code> prints a link that signs this browser in, once. For another one run{' '}
            <code>npx sluice console</code> where Sluice runs, and open it, or paste it here.
          </p>
        )}
        <form onSubmit={submit} className={css['form']}>
          <TextField
            label={kind === 'local' ? 'Link or local secret' : 'Token or API key'}
            type="password"
            value={text}
            onChange={setText}
            description="It is kept in the memory of this page alone."
            isRequired
          />
          <Button type="submit" tone={kind === 'oidc' ? 'plain' : 'primary'} isDisabled={busy || text.trim() === ''}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}
