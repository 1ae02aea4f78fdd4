import { Button as AriaButton, ToggleButton as AriaToggle } from 'react-aria-components';
import type { ButtonProps, ToggleButtonProps } from 'react-aria-components';
import css from './button.module.css';

type ButtonTone = 'primary' | 'plain' | 'bad' | 'quiet';

interface Props extends Omit<ButtonProps, 'className' | 'style'> {
  /** `primary` for the one thing the page is for, `bad` for what cannot be undone, `quiet` within rows. */
  readonly tone?: ButtonTone;
  readonly isSmall?: boolean;
}

export function Button({ tone = 'plain', isSmall = false, ...rest }: Props) {
  return <AriaButton {...rest} className={[css['button'], css[tone], isSmall ? css['small'] : ''].join(' ')} />;
}

export function ToggleButton(props: Omit<ToggleButtonProps, 'className' | 'style'>) {
  return <AriaToggle {...props} className={[css['button'], css['toggle'], css['small']].join(' ')} />;
}
