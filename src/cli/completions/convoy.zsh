#compdef convoy
# Completion of convoy's command line, for zsh. In ~/.zshrc, behind compinit:
#   eval "$(convoy completions zsh)"
# or as a file called _convoy in a folder of $fpath.

# The words up to the cursor go to convoy without their quotes; nothing in them is expanded or run here.
_convoy() {
  local program=${(Q)words[1]} kind line value about
  local -a answer pairs
  program=${program/#\~\//$HOME/}
  [[ $program == */* && -x $program ]] || program=convoy

  answer=("${(@f)$($program __complete zsh "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  kind=$answer[1]
  [[ $PREFIX == --*=* ]] && compset -P '*='

  case $kind in
    file) _files ;;
    directory) _files -/ ;;
    words)
      for line in "${(@)answer[2,-1]}"; do
        [[ -n $IPREFIX ]] && line=${line#"$IPREFIX"}
        line=${line//\\/\\\\}
        value=${line%%$'\t'*} about=${line#*$'\t'}
        pairs+=("${value//:/\\:}${about:+:$about}")
      done
      _describe 'convoy' pairs
      ;;
    *) return 1 ;;
  esac
}

if [[ ${funcstack[1]} == _convoy ]]; then
  _convoy "$@"
else
  compdef _convoy convoy
fi
