# bash completion of rdma-nccl-env(1)                                      -*- shell-script -*-
# SPDX-License-Identifier: Apache-2.0
#
# Options are those of --help; behind --exec there is another command.

_rdma_nccl_env() {
	local cur words cword i
	COMPREPLY=()
	_get_comp_words_by_ref -n = cur words cword || return

	for ((i = 1; i < cword; i++)); do
		if [ "${words[i]}" = --exec ]; then
			_command_offset $((i + 1))
			return
		fi
	done
	case $cur in
	--root=*)
		mapfile -t COMPREPLY < <(compgen -d -- "${cur#--root=}")
		compopt -o filenames -o nospace 2>/dev/null
		;;
	-*)
		mapfile -t COMPREPLY < <(compgen -W "$("${words[0]}" --help 2>/dev/null |
			sed -n 's/^  \(--[a-z]*=\{0,1\}\).*/\1/p')" -- "$cur")
		[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
		;;
	esac
}

complete -F _rdma_nccl_env rdma-nccl-env
