modules-load.d
# c
erdma
ib-uverbs
