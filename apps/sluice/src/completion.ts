import type { CommandForm } from './command-forms.js';

/** What can stand behind a path of words, and which flags it has. */
interface Node {
  readonly actions: Set<string>;
  readonly flags: Map<string, CommandForm['flags'][number]['value']>;
  takesFile: boolean;
}

interface Completed {
  /** By the name of the command. */
  readonly summaries: ReadonlyMap<string, string>;
  readonly forms: readonly CommandForm[];
  readonly topics: readonly string[];
}

/** The script that completes `sluice` in bash or zsh; it runs no command. */
export function completionScript(shell: 'bash' | 'zsh', given: Completed): string {
  const nodes = nodesOf(given);
  const common = functions(nodes, given.topics);
  return shell === 'bash' ? `# bash completion of sluice\n${common}${bash}` : `#compdef sluice\n${common}${zsh(given)}`;
}

function nodesOf({ summaries, forms }: Completed): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  const at = (path: string): Node => {
    const node = nodes.get(path) ?? { actions: new Set(), flags: new Map(), takesFile: false };
    nodes.set(path, node);
    return node;
  };
  for (const name of [...summaries.keys(), 'help', 'version']) at('').actions.add(name);
  for (const name of summaries.keys()) at('help').actions.add(name);
  for (const { path, flags, takesFile } of forms) {
    path.forEach((word, index) => at(path.slice(0, index).join(' ')).actions.add(word));
    const node = at(path.join(' '));
    node.takesFile ||= takesFile;
    for (const { name, value } of flags) node.flags.set(name, value);
    node.flags.set('--help', null);
  }
  return nodes;
}

/** Written so that bash and zsh read them alike. */
function functions(nodes: ReadonlyMap<string, Node>, topics: readonly string[]): string {
  const each = (text: (node: Node) => string): string =>
    [...nodes]
      .flatMap(([path, node]) => (text(node) === '' ? [] : [`    '${path}') echo '${text(node)}' ;;\n`]))
      .join('');
  const values = [...nodes].flatMap(([path, { flags }]) =>
    [...flags].flatMap(([name, value]) => {
      const words = name === '--topic' ? topics : Array.isArray(value) ? (value as readonly string[]) : null;
      const said = words !== null ? words.join(' ') : value === 'file' ? '@file' : value === 'any' ? '@any' : null;
      return said === null ? [] : [`    '${path} ${name}') echo '${said}' ;;\n`];
    }),
  );
  return `_sluice_actions() {
  case "$1" in
${each(({ actions }) => [...actions].join(' '))}  esac
}
_sluice_flags() {
  case "$1" in
${each(({ flags }) => [...flags.keys()].join(' '))}  esac
}
_sluice_files() {
  case "$1" in
${each(({ takesFile }) => (takesFile ? '@file' : ''))}  esac
}
_sluice_values() {
  case "$1" in
${values.join('')}  esac
}
# Prints what may stand next: words, @file for files, nothing for anything. Arguments: the words before, without sluice.
_sluice_next() {
  local at='' word last='' actions
  for word in "$@"; do
    last="$word"
    case "$word" in -*) continue ;; esac
    actions=" $(_sluice_actions "$at") "
    case "$actions" in *" $word "*) at="\${at:+$at }$word" ;; esac
  done
  case "$last" in
    --*)
      local values
      values="$(_sluice_values "$at $last")"
      if [ -n "$values" ]; then
        [ "$values" = '@any' ] || echo "$values"
        return
      fi
      ;;
  esac
  echo "$(_sluice_actions "$at") $(_sluice_flags "$at") $(_sluice_files "$at")"
}
`;
}

const bash = `_sluice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" next
  next="$(_sluice_next "\${COMP_WORDS[@]:1:COMP_CWORD-1}")"
  COMPREPLY=($(compgen -W "\${next//@file/}" -- "$current"))
  case "$next" in
    *@file*)
      case "$current" in -*) return ;; esac
      compopt -o filenames 2>/dev/null
      local file
      while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$current")
      ;;
  esac
}
complete -F _sluice sluice
`;

function zsh({ summaries }: Completed): string {
  const described = [...summaries].map(([name, summary]) => `    '${name}:${summary.replaceAll("'", "'\\''")}'\n`);
  return `_sluice() {
  if (( CURRENT == 2 )); then
    local -a commands
    commands=(
${described.join('')}    )
    _describe command commands
    return
  fi
  local next="$(_sluice_next "\${(@)words[2,CURRENT-1]}")"
  local -a found
  found=(\${=next})
  found=(\${found:#@file})
  (( \${#found} )) && compadd -- $found
  [[ "$next" == *@file* ]] && _files
  return 0
}
if [ "$funcstack[1]" = '_sluice' ]; then _sluice "$@"; else compdef _sluice sluice; fi
`;
}
