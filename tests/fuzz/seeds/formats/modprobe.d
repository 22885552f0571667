modprobe.d
# c
options erdma compat_mode=1 \
  a="b c"
blacklist irdma
install mlx5_ib /bin/true
alias a b
