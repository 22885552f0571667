/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-report.h"

#define TEXT(type, key, m)            FIELD(FIELD_NAME, type, key, m, .flags = FIELD_SPARSE)
#define FLAG(type, key, m)            FIELD(FIELD_FLAG, type, key, m, .flags = FIELD_SPARSE)
#define COUNT(type, key, m)           NUMBER(type, key, m, .flags = FIELD_SPARSE)
#define CHOICE(type, key, m, word, n) WORD_FIELD(type, key, m, word, n, .flags = FIELD_SPARSE)

static const struct field value_rows[] = {
	CHOICE(struct kubelet_value, "source", source, kubelet_source_name, _KUBELET_SOURCE_N),
	COUNT(struct kubelet_value, "rank", rank),
	FLAG(struct kubelet_value, "misspelt", is_misspelt),
	TEXT(struct kubelet_value, "text", text),
	TEXT(struct kubelet_value, "path", path),
	COUNT(struct kubelet_value, "line", line),
};
static const struct fields value_fields = FIELDS(value_rows, struct kubelet_value);

static const struct field item_rows[] = {
	COUNT(struct kubelet_item, "row", row),
	CHOICE(struct kubelet_item, "outcome", outcome, kubelet_outcome_name, _KUBELET_OUTCOME_N),
	CHOICE(struct kubelet_item, "reason", reason, reason_code, _REASON_N),
	CHOICE(struct kubelet_item, "way", way, kubelet_way_name, _KUBELET_WAY_N),
	TEXT(struct kubelet_item, "path", path),
	TEXT(struct kubelet_item, "from", from),
	TEXT(struct kubelet_item, "to", to),
	TEXT(struct kubelet_item, "detail", detail),
};
static const struct fields item_fields = FIELDS(item_rows, struct kubelet_item);

static const struct field denied_rows[] = {
	FIELD(FIELD_NAME, __typeof__(*((struct kubelet_report *)0)->denied), "path", path,
	      .flags = FIELD_ALONE),
};
static const struct fields denied_fields =
	FIELDS(denied_rows, __typeof__(*((struct kubelet_report *)0)->denied));

static const struct field server_rows[] = {
	TEXT(struct kubelet_server, "host", host),
	TEXT(struct kubelet_server, "path", path),
};
static const struct fields server_fields = FIELDS(server_rows, struct kubelet_server);

#define R struct kubelet_report

static const struct field rows[] = {
	FLAG(R, "there", kubelet.is_there),
	TEXT(R, "unit", kubelet.unit),
	TEXT(R, "manager", kubelet.manager),
	TEXT(R, "version", kubelet.version),
	TEXT(R, "node_ip", kubelet.node_ip),
	TEXT(R, "host_name", kubelet.host_name),
	TEXT(R, "flannel_iface", kubelet.flannel_iface),
	FIELD(FIELD_ARRAY, R, "servers", kubelet.servers, .of = &server_fields,
	      .count = offsetof(R, kubelet.n_servers), .flags = FIELD_SPARSE),
	TEXT(R, "vke_rdma_mode", kubelet.vke_rdma_mode),
	TEXT(R, "vke_gpu_schedule", kubelet.vke_gpu_schedule),
	FLAG(R, "running", kubelet.is_running),
	FLAG(R, "deferred", kubelet.is_deferred),
	TEXT(R, "problem", kubelet.problem),
	FIELD(FIELD_ARRAY, R, "values", kubelet.values, .of = &value_fields, .flags = FIELD_NEEDED),
	TEXT(R, "file", kubelet.file),
	FLAG(R, "has_file", kubelet.has_file),
	TEXT(R, "file_problem", kubelet.file_problem),
	TEXT(R, "folder", kubelet.folder),
	FLAG(R, "has_folder", kubelet.has_folder),
	TEXT(R, "since", kubelet.since),
	COUNT(R, "online_cpus", kubelet.cpus.n_online),
	COUNT(R, "reserved_cpus", kubelet.cpus.n_reserved),
	FLAG(R, "reserved_by_list", kubelet.cpus.is_list),
	FLAG(R, "reserved_by_flag", kubelet.cpus.is_by_flag),
	FLAG(R, "reserved_cgroup", kubelet.cpus.has_cgroup),
	FLAG(R, "reserved_unclear", kubelet.cpus.is_unclear),
	TEXT(R, "first_core", kubelet.cpus.first_core),
	COUNT(R, "first_core_cpus", kubelet.cpus.n_first_core),
	TEXT(R, "cpu_state", kubelet.cpus.checkpoint),
	TEXT(R, "cpu_state_path", kubelet.cpus.checkpoint_path),

	FIELD(FIELD_ARRAY, R, "decision", decision.items, .of = &item_fields,
	      .flags = FIELD_NEEDED),
	FLAG(R, "remove_cpu_state", decision.is_state_removed),

	FIELD(FIELD_ARRAY, R, "denied", denied, .of = &denied_fields,
	      .count = offsetof(R, n_denied), .flags = FIELD_SPARSE),
};
const struct fields kubelet_report_fields = FIELDS(rows, R);
