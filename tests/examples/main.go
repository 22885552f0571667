// SPDX-License-Identifier: Apache-2.0

// Examples: does each workload of conf/kubernetes decode strictly into the types of k8s.io/api, and does each
// kustomization build? Upstream bases come from the module that the overlay names, never from the network. And does the
// library of container runtimes read each expected CDI.txt of tests/nodes?
//
// main CONF-KUBERNETES NODES BASE...: BASE is URL-PREFIX=FOLDER, what a resource of an overlay is replaced by.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"tags.cncf.io/container-device-interface/pkg/cdi"
)

var failed bool

func say(err error, format string, args ...any) {
	word := "ok"
	if err != nil {
		word, failed = "not ok", true
	}
	fmt.Printf("%s - %s", word, fmt.Sprintf(format, args...))
	if err != nil {
		fmt.Printf(": %v", err)
	}
	fmt.Println()
}

func decoder() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, resourcev1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

// decode: each document of a text; at least one.
func decode(d runtime.Decoder, text []byte) error {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for n := 0; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return errors.New("no document")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if _, _, err = d.Decode(document, nil, nil); err != nil {
			return err
		}
	}
}

// build: the kustomization of a folder, its remote resources replaced by what is on disk.
func build(folder string, bases map[string]string) ([]byte, error) {
	fs := filesys.MakeFsOnDisk()
	work, err := os.MkdirTemp("", "examples")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if err = os.CopyFS(work, os.DirFS(folder)); err != nil {
		return nil, err
	}
	path := filepath.Join(work, "kustomization.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		for url, base := range bases {
			if strings.HasPrefix(line, "- "+url) {
				if err = os.CopyFS(filepath.Join(work, "base"), os.DirFS(base)); err != nil {
					return nil, err
				}
				lines[i] = "- base"
			}
		}
		if strings.HasPrefix(lines[i], "- https:") {
			return nil, fmt.Errorf("no base is given for %q", lines[i])
		}
	}
	if err = os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		return nil, err
	}
	source := work
	if !strings.Contains(string(text), "- https:") { // it may name folders beside it
		source = folder
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, source)
	if err != nil {
		return nil, err
	}
	return resources.AsYaml()
}

// readCDI: each file has one device more than it has functions.
func readCDI(nodes string) {
	files, _ := filepath.Glob(filepath.Join(nodes, "*", "CDI.txt"))
	if len(files) == 0 {
		say(errors.New("there is none"), "%s/*/CDI.txt", nodes)
	}
	for _, file := range files {
		spec, err := cdi.ReadSpec(file, 0)
		if err == nil && (len(spec.Devices) < 2 || spec.GetDevice("all") == nil) {
			err = errors.New("a device is missing")
		}
		say(err, "%s: is read", file)
	}
}

// readDRA: the objects of Kubernetes itself decode strictly; of those of dra-driver-sriov there is no module to be had.
func readDRA(d runtime.Decoder, nodes string) {
	files, _ := filepath.Glob(filepath.Join(nodes, "*", "dra.yaml"))
	if len(files) == 0 {
		say(errors.New("there is none"), "%s/*/dra.yaml", nodes)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		kept := []string{}
		for _, document := range strings.Split(string(text), "---\n")[1:] {
			if !strings.HasPrefix(document, "apiVersion: sriovnetwork.") {
				kept = append(kept, document)
			}
		}
		if err == nil {
			err = decode(d, []byte(strings.Join(kept, "---\n")))
		}
		say(err, "%s: decodes strictly", file)
	}
}

var image = regexp.MustCompile(`(?m)^\s*(?:- )?image: *"?([^"\s]+)`)

// The page of SCC has it without a tag.
const imageOfSCC = "registry.cn-shanghai.aliyuncs.com/acs/rdma-device-plugin"

// checkImages: each image of a text has a tag or digest, and the tag is not one that moves.
func checkImages(text []byte) error {
	for _, match := range image.FindAllSubmatch(text, -1) {
		name := string(match[1])
		if name == imageOfSCC {
			continue
		}
		base := name[strings.LastIndex(name, "/")+1:]
		if _, tag, found := strings.Cut(base, ":"); !found || strings.HasPrefix(tag, "latest") {
			return fmt.Errorf("image %q has no fixed tag", name)
		}
	}
	return nil
}

// checkNetwork: a pod with the node's network finds the cluster's names by this policy alone.
func checkNetwork(text []byte) error {
	if bytes.Contains(text, []byte("kind: Pod\n")) && bytes.Contains(text, []byte("hostNetwork: true")) &&
		!bytes.Contains(text, []byte("dnsPolicy: ClusterFirstWithHostNet")) {
		return errors.New("hostNetwork without dnsPolicy")
	}
	return nil
}

func failing(err error) error {
	if err == nil {
		return errors.New("it was taken")
	}
	return nil
}

func main() {
	top, bases := os.Args[1], map[string]string{}
	for _, base := range os.Args[3:] {
		url, folder, _ := strings.Cut(base, "=")
		bases[url] = folder
	}
	d := decoder()
	say(failing(decode(d, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostNetwrok: true}\n"))),
		"a misspelt field is refused")
	for _, name := range []string{"a/b", "a/b:latest", "a:5000/b", "a/b:latest-amd64"} {
		say(failing(checkImages([]byte("      - image: "+name+"\n"))), "the image %s is refused", name)
	}
	say(checkImages([]byte("        image: a:5000/b@sha256:00\n- image: a/b:v1\n")), "a digest and a tag are taken")

	files, _ := filepath.Glob(filepath.Join(top, "*", "*.yaml"))
	for _, file := range files {
		name, _ := filepath.Rel(top, file)
		if filepath.Base(file) != "kustomization.yaml" {
			text, err := os.ReadFile(file)
			if err == nil {
				err = errors.Join(decode(d, text), checkImages(text), checkNetwork(text))
			}
			say(err, "%s: decodes strictly, with fixed images", name)
			continue
		}
		text, err := build(filepath.Dir(file), bases)
		if err == nil {
			err = errors.Join(decode(d, text), checkImages(text))
		}
		if err == nil && !bytes.Contains(text, []byte("path: /run/rdma-provision/device-plugin")) {
			err = errors.New("the folder of rdma-provision is not mounted")
		}
		say(err, "%s: builds, and what comes of it decodes strictly", name)
	}
	pods, _ := filepath.Glob(filepath.Join(os.Args[2], "*", "pod.yaml"))
	for _, file := range pods {
		text, err := os.ReadFile(file)
		if err == nil {
			err = errors.Join(decode(d, text), checkImages(text), checkNetwork(text))
		}
		say(err, "%s: decodes strictly, with fixed images", file)
	}
	if len(pods) == 0 {
		say(errors.New("there is none"), "%s/*/pod.yaml", os.Args[2])
	}
	readCDI(os.Args[2])
	readDRA(d, os.Args[2])
	if len(files) == 0 || failed {
		os.Exit(1)
	}
}
