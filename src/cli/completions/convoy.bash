# Completion of convoy's command line, for bash from 3.2 on. In ~/.bashrc:
#   eval "$(convoy completions bash)"

# The words up to the cursor go to convoy as they are written; nothing in them is expanded or run here.
_convoy() {
  local program=$1 current=$2 word= line= kind= inside= at count=0
  local -a words
  words=()
  COMPREPLY=()

  # bash cuts words at "=": --flag=value is put together again.
  for ((at = 1; at <= COMP_CWORD; at++)); do
    word=${COMP_WORDS[at]}
    if ((count > 0)) && [[ $word == "=" || ${COMP_WORDS[at - 1]} == "=" ]]; then
      words[count - 1]+=$word
      inside=yes
    else
      words[count++]=$word
      inside=
    fi
  done
  [[ $current == "=" ]] && current=

  case $program in
  "~/"*) program=$HOME/${program#"~/"} ;;
  esac
  [[ $program == */* && -x $program ]] || program=convoy

  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
      continue
    fi
    line=${line%%$'\t'*}
    [[ -n $inside ]] && line=${line#*=}
    [[ $line == "$current"* ]] && COMPREPLY+=("$line")
  done < <("$program" __complete bash "${words[@]}" 2>/dev/null)

  # Names of files are left to bash, which knows how to quote them.
  case $kind in
  file) _convoy_paths default -f ;;
  directory) _convoy_paths dirnames -d ;;
  esac
}

# Asks for file names by an option of the completion that runs; bash 3.2 cannot, and gets them listed.
_convoy_paths() {
  local line
  if type compopt >/dev/null 2>&1; then
    compopt -o "$1"
  else
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$2" -- "$current")
  fi
}

complete -F _convoy convoy
