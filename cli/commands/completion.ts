import { Argument, type Command } from 'commander';
import { action, type Io } from '../command.ts';

// Each script passes the words before the cursor to `verbatim __complete`, so that it never differs from the program.
const SCRIPTS = {
  bash: `_verbatim() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(verbatim __complete plain "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _verbatim verbatim
`,
  zsh: `#compdef verbatim
_verbatim() {
  local -a found
  found=("\${(@f)$(verbatim __complete zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} )); then _describe 'verbatim' found; else _files; fi
}
if [ "$funcstack[1]" = _verbatim ]; then _verbatim "$@"; else compdef _verbatim verbatim; fi
`,
  fish: `function __verbatim_words
  verbatim __complete fish (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c verbatim -f -n 'count (__verbatim_words)' -a '(__verbatim_words)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName verbatim -ScriptBlock {
  param($word, $ast, $cursor)
  $words = @($ast.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
  verbatim __complete plain @($words | Select-Object -Skip 1) 2>$null | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
};
type Shell = keyof typeof SCRIPTS;

const HELP = `
  bash        eval "$(verbatim completion bash)"                       in ~/.bashrc
  zsh         verbatim completion zsh > "\${fpath[1]}/_verbatim"        once
  fish        verbatim completion fish > ~/.config/fish/completions/verbatim.fish
  powershell  verbatim completion powershell | Out-String | Invoke-Expression
`;

/** `verbatim completion` */
export function define(command: Command, io: Io): void {
  command
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HELP)
    .action(action<[Shell]>(io, (_session, _options, shell) => void io.stdout.write(SCRIPTS[shell])));
}
