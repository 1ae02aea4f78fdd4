import {
  Button as AriaButton,
  Checkbox as AriaCheckbox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select as AriaSelect,
  SelectValue,
  Text,
  TextArea as AriaTextArea,
  TextField as AriaTextField,
} from 'react-aria-components';
import type { CheckboxProps, TextFieldProps } from 'react-aria-components';
import type { ReactNode } from 'react';
import css from './field.module.css';

interface Named {
  readonly label: string;
  /** What to write here, below the field. */
  readonly description?: ReactNode;
  /** The label is read aloud, but not shown. */
  readonly isLabelHidden?: boolean;
}

interface TextProps extends Named, Omit<TextFieldProps, 'className' | 'style' | 'children'> {
  readonly placeholder?: string;
  readonly errorMessage?: string | null;
}

const labelClass = ({ isLabelHidden = false }: Named): string | undefined =>
  isLabelHidden ? 'visually-hidden' : css['label'];

export function TextField({ label, description, isLabelHidden, placeholder, errorMessage, ...rest }: TextProps) {
  return (
    <AriaTextField {...rest} className={css['field'] ?? ''} isInvalid={Boolean(errorMessage)}>
      <Label className={labelClass({ label, ...(isLabelHidden ? { isLabelHidden } : {}) })}>{label}</Label>
      <Input className={css['input'] ?? ''} {...(placeholder === undefined ? {} : { placeholder })} />
      {description !== undefined && (
        <Text slot="description" className={css['description'] ?? ''}>
          {description}
        </Text>
      )}
      <FieldError className={css['error'] ?? ''}>{errorMessage}</FieldError>
    </AriaTextField>
  );
}

interface AreaProps extends TextProps {
  readonly rows?: number;
  readonly isMono?: boolean;
}

export function TextArea(props: AreaProps) {
  const { label, description, isLabelHidden, placeholder, errorMessage, rows = 3, isMono = false, ...rest } = props;
  return (
    <AriaTextField {...rest} className={css['field'] ?? ''} isInvalid={Boolean(errorMessage)}>
      <Label className={labelClass({ label, ...(isLabelHidden ? { isLabelHidden } : {}) })}>{label}</Label>
      <AriaTextArea
        className={`${css['input']} ${css['area']} ${isMono ? css['mono'] : ''}`}
        rows={rows}
        {...(placeholder === undefined ? {} : { placeholder })}
      />
      {description !== undefined && (
        <Text slot="description" className={css['description'] ?? ''}>
          {description}
        </Text>
      )}
      <FieldError className={css['error'] ?? ''}>{errorMessage}</FieldError>
    </AriaTextField>
  );
}

interface SelectProps<Value extends string> extends Named {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly isDisabled?: boolean;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, description, isLabelHidden, value, onChange, options, isDisabled = false } = props;
  return (
    <AriaSelect
      className={css['field'] ?? ''}
      value={value}
      onChange={(key) => onChange(key as Value)}
      isDisabled={isDisabled}
    >
      <Label className={labelClass({ label, ...(isLabelHidden ? { isLabelHidden } : {}) })}>{label}</Label>
      <AriaButton className={`${css['input']} ${css['select']}`}>
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </AriaButton>
      {description !== undefined && (
        <Text slot="description" className={css['description'] ?? ''}>
          {description}
        </Text>
      )}
      <Popover className={css['popover'] ?? ''}>
        <ListBox className={css['list'] ?? ''}>
          {options.map((option) => (
            <ListBoxItem key={option.value} id={option.value} className={css['option'] ?? ''}>
              {option.label}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

export function Checkbox({ children, ...rest }: Omit<CheckboxProps, 'className' | 'style'> & { children: ReactNode }) {
  return (
    <AriaCheckbox {...rest} className={css['checkbox'] ?? ''}>
      <span className={css['box']} aria-hidden="true" />
      {children}
    </AriaCheckbox>
  );
}
