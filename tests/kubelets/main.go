// SPDX-License-Identifier: Apache-2.0

// Judge starts a kubelet on each node that test-kubelet-start wrote, and tells whether it exits as was predicted there.
// The container runtime is a stub: ready, and without containers. Each kubelet has namespaces of its own for mounts,
// processes and the network, where the node's files are those of the machine; what it would change of the kernel's
// settings are copies.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/kubernetes/pkg/kubelet/checkpointmanager"
	cpu "k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	memory "k8s.io/kubernetes/pkg/kubelet/cm/memorymanager/state"
)

// From here on all managers have started.
const started = "Starting Kubelet Plugin Manager"

const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupsPerQOS: false
containerRuntimeEndpoint: unix://%s
enforceNodeAllocatable: [none]
failCgroupV1: false
failSwapOn: false
healthzPort: 0
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
readOnlyPort: 0
volumePluginDir: /var/lib/kubelet/volume-plugins
`

const inside = `set -e
node=$1 kubelet=$2
shift 2
mount --make-rprivate /
mount -t proc proc /proc
for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
	kernel/keys/root_maxbytes; do
	copy=$node/${name##*/}
	cat "/proc/sys/$name" >"$copy"
	mount --bind "$copy" "/proc/sys/$name"
done
mount --bind "$node/proc/cpuinfo" /proc/cpuinfo
mount --bind "$node/sys/devices/system" /sys/devices/system
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /var/log
mount --bind "$node/var/lib" /var/lib
ip link set lo up
exec "$kubelet" "$@"`

type stub struct {
	cri.UnimplementedRuntimeServiceServer
	cri.UnimplementedImageServiceServer
}

func (*stub) Version(context.Context, *cri.VersionRequest) (*cri.VersionResponse, error) {
	return &cri.VersionResponse{Version: "0.1.0", RuntimeName: "stub", RuntimeVersion: "1.0.0", RuntimeApiVersion: "v1"}, nil
}

func (*stub) Status(context.Context, *cri.StatusRequest) (*cri.StatusResponse, error) {
	return &cri.StatusResponse{Status: &cri.RuntimeStatus{Conditions: []*cri.RuntimeCondition{
		{Type: cri.RuntimeReady, Status: true}, {Type: cri.NetworkReady, Status: true}}}}, nil
}

func (*stub) RuntimeConfig(context.Context, *cri.RuntimeConfigRequest) (*cri.RuntimeConfigResponse, error) {
	return &cri.RuntimeConfigResponse{Linux: &cri.LinuxRuntimeConfiguration{CgroupDriver: cri.CgroupDriver_CGROUPFS}}, nil
}

func (*stub) ListPodSandbox(context.Context, *cri.ListPodSandboxRequest) (*cri.ListPodSandboxResponse, error) {
	return &cri.ListPodSandboxResponse{}, nil
}

func (*stub) ListContainers(context.Context, *cri.ListContainersRequest) (*cri.ListContainersResponse, error) {
	return &cri.ListContainersResponse{}, nil
}

func (*stub) ListImages(context.Context, *cri.ListImagesRequest) (*cri.ListImagesResponse, error) {
	return &cri.ListImagesResponse{}, nil
}

func (*stub) ImageFsInfo(context.Context, *cri.ImageFsInfoRequest) (*cri.ImageFsInfoResponse, error) {
	return &cri.ImageFsInfoResponse{}, nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func serve(socket string) {
	listener, err := net.Listen("unix", socket)
	must(err)
	server := grpc.NewServer()
	cri.RegisterRuntimeServiceServer(server, &stub{})
	cri.RegisterImageServiceServer(server, &stub{})
	go server.Serve(listener)
}

// read gives a file's text; empty: there is none.
func read(parts ...string) string {
	text, err := os.ReadFile(filepath.Join(parts...))
	if !os.IsNotExist(err) {
		must(err)
	}
	return string(text)
}

func write(text string, parts ...string) {
	path := filepath.Join(parts...)
	must(os.MkdirAll(filepath.Dir(path), 0o755))
	must(os.WriteFile(path, []byte(text), 0o644))
}

// seal gives a state file the form and the checksum of this version. What is no state is left as it is.
func seal(state checkpointmanager.Checkpoint, parts ...string) {
	var data any = state
	// Up to 1.35 the checksum of a map that is empty differs from that of none, and the kubelet begins with empty ones.
	for of, i := reflect.ValueOf(state).Elem(), 0; i < of.NumField(); i++ {
		if of.Field(i).Kind() == reflect.Map {
			of.Field(i).Set(reflect.MakeMap(of.Field(i).Type()))
		}
	}
	if field := reflect.ValueOf(state).Elem().FieldByName("CheckpointData"); field.IsValid() {
		data = field.Addr().Interface()
	}
	if json.Unmarshal([]byte(read(parts...)), data) != nil {
		return
	}
	text, err := state.MarshalCheckpoint()
	must(err)
	// 1.36 reads the form of 1.35 unless a gate is on, and takes a checksum of 0 for none.
	if pods := reflect.ValueOf(state).Elem().FieldByName("PodEntries"); pods.IsValid() && pods.Len() == 0 {
		fields := map[string]json.RawMessage{}
		must(json.Unmarshal(text, &fields))
		delete(fields, "podEntries")
		fields["checksum"] = json.RawMessage("0")
		text, err = json.Marshal(fields)
		must(err)
	}
	write(string(text), parts...)
}

// start returns what the kubelet logged until its managers had started, or until its end.
func start(node, kubelet, socket string) (log string, isStarted bool) {
	write(fmt.Sprintf(config, socket), node, "var/lib/kubelet/judge/judge.conf")
	seal(&cpu.CPUManagerCheckpoint{}, node, "var/lib/kubelet/cpu_manager_state")
	seal(&memory.MemoryManagerCheckpoint{}, node, "var/lib/kubelet/memory_manager_state")
	args := []string{"-c", inside, "sh", node, kubelet, "--config=/var/lib/kubelet/config.yaml",
		"--config-dir=/var/lib/kubelet/judge", "--hostname-override=judge", "--v=2"}
	for _, flag := range strings.Fields(strings.ReplaceAll(read(node, "flags"), "%%", "%")) {
		args = append(args, strings.Trim(flag, "'"))
	}
	cmd := exec.Command("sh", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	pipe, err := cmd.StderrPipe()
	must(err)
	must(cmd.Start())
	limit := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	for lines := bufio.NewScanner(pipe); !isStarted && lines.Scan(); {
		log += lines.Text() + "\n"
		isStarted = strings.Contains(lines.Text(), started)
	}
	cmd.Process.Kill()
	cmd.Wait()
	limit.Stop()
	write(log, node, "log")
	return log, isStarted
}

// bare is a text without the marks that quoting leaves.
func bare(text string) string { return strings.ReplaceAll(text, "\\", "") }

// isAsPredicted tells what the kubelet does with one node.
func isAsPredicted(name, node, kubelet, socket string) bool {
	exit := read(node, "exit")
	words, _, _ := strings.Cut(exit, ": /") // of the kubelet; the path of a state file is ours
	log, isStarted := start(node, kubelet, socket)
	lines := strings.Split(strings.TrimSpace(log), "\n")
	switch {
	case isStarted && exit == "":
		fmt.Printf("ok - %s: starts\n", name)
	case !isStarted && exit != "" && (strings.Contains(bare(log), words) || strings.Contains(name, ": random ")):
		// A random one may have several faults, of which the kubelet tells one.
		fmt.Printf("ok - %s: exits: %s\n", name, exit)
	case isStarted:
		fmt.Printf("not ok - %s: starts, in spite of: %s\n", name, exit)
		return false
	default:
		fmt.Printf("not ok - %s: predicted %q: %s\n", name, exit, lines[len(lines)-1])
		return false
	}
	return true
}

func judge(version, kubelet string, nodes []string) (status int) {
	folder, err := os.MkdirTemp("", "judge")
	must(err)
	defer os.RemoveAll(folder)
	socket := filepath.Join(folder, "runtime.sock")
	serve(socket)
	for _, node := range nodes {
		if !isAsPredicted(version+": "+read(node, "name"), node, kubelet, socket) {
			status = 1
		}
	}
	return status
}

func main() {
	runtime.LockOSThread() // a kubelet ends with the thread that started it
	os.Exit(judge(os.Args[1], os.Args[2], os.Args[3:]))
}
