import type { ConsoleAbout } from '@sluice/client';
import { useState } from 'react';
import type { FormEvent } from 'react';
import { asTyped } from '../data/command-names.js';
import { Button } from '../ui/button.js';
import { TextField } from '../ui/field.js';
import { Note } from '../ui/states.js';
import { session } from './session.js';
import css from './sign-in-page.module.css';

interface Props {
  readonly information: ConsoleAbout;
  readonly message: string | null;
}

/** How one signs in to this gateway. */
export function SignInPage({ information, message }: Props) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState(message);
  const [busy, setBusy] = useState(false);
  const { oidc } = information;
  const isLocal = information.sign_in.includes('local');

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
        {oidc !== null && (
          <Button tone="primary" isDisabled={busy} onPress={() => void attempt(() => session.signInAtIssuer())}>
            Sign in at {new URL(oidc.issuer).host}
          </Button>
        )}
        {isLocal && (
          <p>
            <code>{asTyped('npm start')}</code> prints a link that signs this browser in, once. For another one run{' '}
            <code>{asTyped('npx sluice console')}</code> where Sluice runs, and open it, or paste it here.
          </p>
        )}
        <form onSubmit={submit} className={css['form']}>
          <TextField
            label={labelOf(information)}
            type="password"
            value={text}
            onChange={setText}
            description="It is kept in the memory of this page alone."
            isRequired
          />
          <Button type="submit" tone={oidc === null ? 'primary' : 'plain'} isDisabled={busy || text.trim() === ''}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}

function labelOf({ sign_in: ways }: ConsoleAbout): string {
  if (ways.includes('local')) return 'Link or local secret';
  if (!ways.includes('api_key')) return 'Token';
  return ways.includes('token') ? 'Token or API key' : 'API key';
}
