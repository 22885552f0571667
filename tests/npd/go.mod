module rdma-provision/tests/npd

go 1.23.1

require k8s.io/node-problem-detector v0.8.20
