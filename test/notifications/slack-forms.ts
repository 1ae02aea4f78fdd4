type Json = Readonly<Record<string, unknown>>;

/** What is wrong with a message or a view by the limits that Slack documents of Block Kit. */
export function blockProblems(sent: object): readonly string[] {
  const { view, blocks, text } = sent as Json;
  if (view !== undefined) return viewProblems(view as Json);
  const problems = typeof text === 'string' && text.length <= 40_000 ? [] : ['no text'];
  return [...problems, ...listProblems(blocks, 50)];
}

function viewProblems(view: Json): readonly string[] {
  const metadata = view['private_metadata'] ?? '';
  return [
    ...(view['type'] === 'modal' ? [] : ['not a modal']),
    ...['title', 'submit', 'close'].flatMap((name) => (view[name] === undefined ? [] : plain(view[name], 24, name))),
    ...(typeof metadata === 'string' && metadata.length <= 3_000 ? [] : ['private_metadata']),
    ...(String(view['callback_id'] ?? '').length <= 255 ? [] : ['callback_id']),
    ...listProblems(view['blocks'], 100),
  ];
}

function listProblems(blocks: unknown, most: number): readonly string[] {
  if (!Array.isArray(blocks) || blocks.length > most) return ['blocks'];
  return (blocks as Json[]).flatMap(blockProblem);
}

function blockProblem(block: Json): readonly string[] {
  if (String(block['block_id'] ?? '').length > 255) return ['block_id'];
  const elements = (block['elements'] ?? []) as Json[];
  switch (block['type']) {
    case 'header':
      return plain(block['text'], 150, 'header');
    case 'actions':
      return elements.length > 25 ? ['actions'] : elements.flatMap(buttonProblem);
    case 'input': {
      const element = block['element'] as Json;
      const most = Number(element['max_length'] ?? 0);
      return [...plain(block['label'], 2_000, 'label'), ...(most >= 1 && most <= 3_000 ? [] : ['max_length'])];
    }
    case 'rich_text':
      return elements.flatMap(richProblem);
    default:
      return [`a block ${String(block['type'])}`];
  }
}

function buttonProblem(button: Json): readonly string[] {
  return [
    ...plain(button['text'], 75, 'button'),
    ...(String(button['action_id']).length <= 255 ? [] : ['action_id']),
    ...(String(button['value'] ?? '').length <= 2_000 ? [] : ['value']),
    ...(String(button['url'] ?? '').length <= 3_000 ? [] : ['url']),
    ...([undefined, 'primary', 'danger'].includes(button['style'] as string) ? [] : ['style']),
  ];
}

function richProblem({ type, elements }: Json): readonly string[] {
  if (!['rich_text_section', 'rich_text_quote', 'rich_text_preformatted'].includes(String(type))) return [String(type)];
  const texts = (elements as Json[]).filter((one) => one['type'] === 'text').map(({ text }) => String(text));
  const dates = (elements as Json[]).filter((one) => one['type'] === 'date');
  return [
    ...(texts.every((text) => text !== '' && text.length <= 3_000) ? [] : ['a text of a rich text']),
    ...(dates.every(({ timestamp, format }) => Number.isInteger(timestamp) && format !== undefined) ? [] : ['date']),
    ...(texts.length + dates.length === (elements as Json[]).length ? [] : ['an element of a rich text']),
  ];
}

function plain(given: unknown, most: number, where: string): readonly string[] {
  const { type, text } = (given ?? {}) as Json;
  const isFine = type === 'plain_text' && typeof text === 'string' && text.length >= 1 && text.length <= most;
  return isFine ? [] : [where];
}
