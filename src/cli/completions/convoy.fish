# Completion of convoy's command line, for fish from 3.0 on:
#   convoy completions fish >~/.config/fish/completions/convoy.fish

# The words up to the cursor go to convoy without their quotes; nothing in them is expanded or run here.
function __convoy_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -e words[1]
    if not string match -q '*/*' -- $program; or not test -x "$program"
        set program convoy
    end

    set -l answer ($program __complete fish $words "$current" 2>/dev/null)
    or return 1
    set -l kind $answer[1]
    set -e answer[1]

    # Names of files are left to fish; behind --flag= they are wanted without it.
    set -l before (string match -r '^--[^=]*=' -- "$current")
    set -l path (string replace -r '^--[^=]*=' '' -- "$current")
    switch "$kind"
        case file
            string replace -r '^' -- "$before" (__fish_complete_path "$path")
        case directory
            string replace -r '^' -- "$before" (__fish_complete_directories "$path" '')
        case '*'
            string join \n -- $answer
    end
end

complete -c convoy -f -k -a '(__convoy_complete)'
