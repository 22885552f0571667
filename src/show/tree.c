/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <arpa/inet.h>

#include "../base/document.h"
#include "../model/reason.h"
#include "../plugin/plugin-output.h"
#include "../qos/qos-output.h"
#include "sheet.h"

#define LABEL_WIDTH 15
#define NUMA_NODES  1024 /* at most: include/linux/numa.h */

enum column {
	COLUMN_PCI, /* with the branches before it */
	COLUMN_IBDEV,
	COLUMN_NETDEV,
	COLUMN_DRIVER,
	COLUMN_PORT,
	COLUMN_RATE,
	COLUMN_WORTH,
	_COLUMN_N
};

#define CELL_LEN 192
#define GAP      2

enum colour {
	COLOUR_NONE,
	COLOUR_GREEN,
	COLOUR_YELLOW,
	COLOUR_RED,
	COLOUR_BOLD,
};

struct row {
	json_int_t numa_node;
	char cells[_COLUMN_N][CELL_LEN];
	const char *mark;
	enum colour colour;  /* of mark, address and worth */
	size_t branch_bytes; /* at the start of the first cell: never coloured */
};

struct tree {
	const json_t *state;
	struct sheet sheet;
	FILE *f; /* of the sheet */
	const struct screen *screen;
	enum tree_view view;
	struct row *rows; /* owned */
	size_t n_rows;
	int widths[_COLUMN_N]; /* 0: the column is left out */
};

static void tree_done(struct tree *t)
{
	free(t->rows);
	sheet_done(&t->sheet);
}

static const char *sgr(const struct tree *t, enum colour c)
{
	static const char *const sequences[] = {
		[COLOUR_NONE] = "",           [COLOUR_GREEN] = "\033[32m",
		[COLOUR_YELLOW] = "\033[33m", [COLOUR_RED] = "\033[1;31m",
		[COLOUR_BOLD] = "\033[1m",
	};

	return t->screen->has_colour ? sequences[c] : "";
}

static const char *reset(const struct tree *t, enum colour c)
{
	return t->screen->has_colour && c != COLOUR_NONE ? "\033[0m" : "";
}

/* "0000:...:ffff:0a00:0002" is "10.0.0.2" for people. A global address tells more than one of the
 * link, and one of IPv4 more than both. */
static void format_gid(const json_t *gids, char *buf, size_t size)
{
	int best = 0;

	*buf = '\0';
	document_each(gid, gids) {
		char text[INET6_ADDRSTRLEN];
		struct in6_addr a;
		int rank;

		if (!strstr(document_get_text(gid, "type"), "v2") ||
		    inet_pton(AF_INET6, document_get_text(gid, "gid"), &a) != 1)
			continue;
		rank = IN6_IS_ADDR_V4MAPPED(&a) ? 3 : IN6_IS_ADDR_LINKLOCAL(&a) ? 1 : 2;
		if (rank <= best)
			continue;
		best = rank;
		inet_ntop(rank == 3 ? AF_INET : AF_INET6, a.s6_addr + (rank == 3 ? 12 : 0), text,
			  sizeof(text));
		snprintf(buf, size, "gid %lld %s", (long long)document_get_number(gid, "index"),
			 text);
	}
}

static void fill_port(struct row *row, const json_t *device)
{
	const json_t *port = json_array_get(json_object_get(device, "ports"), 0);
	char *rate = row->cells[COLUMN_RATE];

	sheet_format(port, "{state}", row->cells[COLUMN_PORT], CELL_LEN);

	/* "400 Gb/sec (4X NDR)": the number is what people look for. */
	sheet_format(port, "{rate}", rate, CELL_LEN);
	rate[strcspn(rate, "(")] = '\0';
	for (size_t n = strlen(rate); n > 0 && rate[n - 1] == ' '; n--)
		rate[n - 1] = '\0';
	if (strlen(rate) > 4 && streq(rate + strlen(rate) - 4, "/sec"))
		rate[strlen(rate) - 2] = '\0';
}

static void fill_worth(struct row *row, const json_t *device)
{
	const json_t *port = json_array_get(json_object_get(device, "ports"), 0);
	const bool usable = document_get_flag(device, "usable");
	char *worth = row->cells[COLUMN_WORTH];

	row->mark = "·";
	if (!document_get_flag(device, "handed_out")) {
		sheet_format(device,
			     "[{#vfs} of {total_vfs} VFs, {mode}[, {code}]|{code}|not handed out]",
			     worth, CELL_LEN);
		return;
	}
	row->mark = usable ? "✓" : "✗";
	row->colour = usable ? COLOUR_GREEN : COLOUR_RED;
	sheet_format(device, "{code}", worth, CELL_LEN);
	if (!*worth)
		format_gid(json_object_get(port, "gids"), worth, CELL_LEN);
}

/* "eth1", or "eth1 (bond0)" where the GIDs are those of the bond above it. */
static void fill_netdev(struct row *row, const json_t *device)
{
	const json_t *port = json_array_get(json_object_get(device, "ports"), 0);
	const json_t *gid = json_array_get(json_object_get(port, "gids"), 0);
	char *cell = row->cells[COLUMN_NETDEV], of[64];

	sheet_format(device, "{netdev}", cell, CELL_LEN);
	sheet_format(gid, "{netdev}", of, sizeof(of));
	if (*cell && *of && !streq(cell, of))
		snprintf(cell + strlen(cell), CELL_LEN - strlen(cell), " (%s)", of);
}

static int add_row(struct tree *t, const json_t *device, const char *branch, json_int_t numa_node)
{
	struct row *row = APPEND(t->rows, t->n_rows);
	char pci[64];

	if (!row)
		return -ENOMEM;

	row->numa_node = numa_node;
	row->branch_bytes = strlen(branch);
	fill_port(row, device);
	fill_worth(row, device);
	sheet_format(device, "{pci}", pci, sizeof(pci));
	sheet_format(device, "{ibdev}", row->cells[COLUMN_IBDEV], CELL_LEN);
	fill_netdev(row, device);
	sheet_format(device, "{driver}", row->cells[COLUMN_DRIVER], CELL_LEN);
	snprintf(row->cells[COLUMN_PCI], CELL_LEN, "%s%s %s", branch, row->mark, pci);
	return 0;
}

static json_int_t numa_of(const json_t *device)
{
	const json_t *node = json_object_get(device, "numa_node");
	const json_int_t n = json_integer_value(node);

	return node && n >= 0 && n < NUMA_NODES ? n : -1;
}

/* Devices that --problems has: NICs with VFs, and what is not usable or not handed out. */
static bool is_drawn(const struct tree *t, const json_t *device)
{
	return t->view != TREE_PROBLEMS || json_array_size(json_object_get(device, "vfs")) > 0 ||
	       !document_get_flag(device, "usable") || !document_get_flag(device, "handed_out");
}

static int add_pf(struct tree *t, const json_t *pf, bool is_last)
{
	const json_t *vfs = json_object_get(pf, "vfs");
	const size_t n_vfs = json_array_size(vfs);
	size_t n = n_vfs;
	int r = add_row(t, pf, is_last ? "└─ " : "├─ ", numa_of(pf));

	while (n > 0 && !is_drawn(t, json_array_get(vfs, n - 1)))
		n--;
	if (r >= 0 && n == 0 && n_vfs > 0)
		snprintf(t->rows[t->n_rows - 1].cells[COLUMN_WORTH], CELL_LEN, "%zu VF%s ✓", n_vfs,
			 n_vfs == 1 ? "" : "s");
	for (size_t i = 0; i < n && r >= 0; i++) {
		char branch[32];

		PRINT(branch, "%s%s", is_last ? "   " : "│  ", i + 1 == n ? "└─ " : "├─ ");
		if (is_drawn(t, json_array_get(vfs, i)))
			r = add_row(t, json_array_get(vfs, i), branch, numa_of(pf));
	}

	return r;
}

static bool is_of_node(const struct tree *t, const json_t *device, json_int_t numa_node)
{
	return device && numa_of(device) == numa_node && is_drawn(t, device);
}

static int add_numa_node(struct tree *t, const json_t *devices, json_int_t numa_node)
{
	size_t last = 0;
	int r = 0;

	for (size_t i = 0; i < json_array_size(devices); i++)
		if (is_of_node(t, json_array_get(devices, i), numa_node))
			last = i;
	for (size_t i = 0; i <= last && r >= 0; i++)
		if (is_of_node(t, json_array_get(devices, i), numa_node))
			r = add_pf(t, json_array_get(devices, i), i == last);

	return r;
}

/* NUMA nodes in order, and last the devices without one. */
static int add_rows(struct tree *t)
{
	const json_t *devices = json_object_get(t->state, "devices");
	json_int_t last = -1;
	int r = 0;

	document_each(device, devices)
		last = MAX(last, numa_of(device));
	for (json_int_t node = 0; node <= last + 1 && r >= 0; node++)
		r = add_numa_node(t, devices, node <= last ? node : -1);
	return r;
}

static void measure(struct tree *t)
{
	static const enum column spare[] = { COLUMN_RATE, COLUMN_DRIVER };
	int total = 0;

	for (size_t i = 0; i < t->n_rows; i++)
		for (size_t c = 0; c < _COLUMN_N; c++)
			t->widths[c] = MAX(t->widths[c], screen_columns(t->rows[i].cells[c]));

	for (size_t c = 0; c < _COLUMN_N; c++)
		total += t->widths[c] > 0 ? t->widths[c] + GAP : 0;
	for (size_t i = 0;
	     i < ELEMENTSOF(spare) && t->screen->width > 0 && total - GAP > t->screen->width; i++) {
		total -= t->widths[spare[i]] > 0 ? t->widths[spare[i]] + GAP : 0;
		t->widths[spare[i]] = 0;
	}
}

/* Blanks before a cell, not after it: lines do not end in them. */
static void draw_row(const struct tree *t, const struct row *row)
{
	int pad = 0;

	for (size_t c = 0; c < _COLUMN_N; c++) {
		const char *cell = row->cells[c];
		const bool is_verdict = c == COLUMN_WORTH || c == COLUMN_PCI;
		const enum colour colour = is_verdict ? row->colour : COLOUR_NONE;
		const size_t plain = c == COLUMN_PCI ? row->branch_bytes : 0;

		if (t->widths[c] == 0)
			continue;
		if (*cell)
			fprintf(t->f, "%*s%.*s%s%s%s", pad, "", (int)plain, cell, sgr(t, colour),
				cell + plain, reset(t, colour));
		pad = (*cell ? 0 : pad) + t->widths[c] - screen_columns(cell) + GAP;
	}
	fputc('\n', t->f);
}

/* Each NIC of a node that manages none, as Match= can name it, presets by their Match=, and the
 * next command. */
static void draw_nics(const struct tree *t)
{
	const json_t *nics = json_object_get(t->state, "nics");
	char line[256], fits[256] = "";

	fputs("No device of this node is managed.\n", t->f);
	document_each(nic, nics) {
		sheet_format(nic,
			     "{pci}  {id}  [{driver}|no driver seen][  {netdev}][  {ibdev}|  no "
			     "RDMA device seen][  {rate}][  {+total_vfs} VFs possible]",
			     line, sizeof(line));
		fprintf(t->f, "· %s\n", line);
		sheet_format(
			nic,
			"[{?id=1ded:107f} ack-erdma][{?driver=mlx5_core} lingjun lingjun-ipv6 scc "
			"vke-exclusive vke-shared vke-shared-multi]",
			line, sizeof(line));
		if (!strstr(fits, line))
			snprintf(fits + strlen(fits), sizeof(fits) - strlen(fits), "%s", line);
	}
	if (json_array_size(nics) > 0)
		fprintf(t->f,
			"Presets that fit:%s (\"rdma-provision presets\" describes those that are "
			"installed)\n%s\n",
			*fits ? fits : " none",
			*fits ? "\"rdma-provision plan --preset=NAME\" tries one, "
				"\"rdma-provision set --preset=NAME\" chooses."
			      : "Other NICs take a [Device NAME] section: "
				"rdma-provision.conf(5).");
}

static void draw_rows(const struct tree *t)
{
	const bool has_devices = json_array_size(json_object_get(t->state, "devices")) > 0;

	if (t->n_rows > 0 || !has_devices)
		fputc('\n', t->f);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct row *row = &t->rows[i];

		if (i == 0 || row->numa_node != t->rows[i - 1].numa_node) {
			fprintf(t->f,
				row->numa_node < 0 ? "NUMA node unknown\n" : "NUMA node %lld\n",
				(long long)row->numa_node);
		}
		draw_row(t, row);
	}

	if (!has_devices)
		draw_nics(t);
}

static void count(const json_t *devices, size_t *n, size_t *n_usable)
{
	document_each(device, devices) {
		if (document_get_flag(device, "handed_out")) {
			*n += 1;
			*n_usable += document_get_flag(device, "usable");
		}
		if (json_object_get(device, "vfs"))
			count(json_object_get(device, "vfs"), n, n_usable);
	}
}

static void draw_first(const struct tree *t, size_t n_reasons)
{
	const json_t *reasons = json_object_get(t->state, "reasons"), *first = NULL;
	char words[192];

	/* "not-ready" follows from another reason. */
	for (size_t i = n_reasons; i-- > 0;)
		if (!first || !streq(document_get_text(json_array_get(reasons, i), "code"),
				     reason_code(REASON_NOT_READY)))
			first = json_array_get(reasons, i);
	sheet_format(first, "{code}[ on {target}]", words, sizeof(words));
	fprintf(t->f, n_reasons > 1 ? "%s, %zu more" : "%s", words, n_reasons - 1);
}

static void draw_head(const struct tree *t)
{
	const json_t *devices = json_object_get(t->state, "devices");
	const char *word = document_get_text(t->state, "state");
	const enum colour colour = streq(word, "ready")      ? COLOUR_GREEN
				   : streq(word, "degraded") ? COLOUR_RED
							     : COLOUR_YELLOW;
	const size_t n_reasons = json_array_size(json_object_get(t->state, "reasons"));
	const size_t n_health = json_array_size(json_object_get(t->state, "health"));
	char state[64], boot[9];
	size_t n = 0, n_usable = 0;

	sheet_format(t->state, "{state}", state, sizeof(state));
	sheet_format(t->state, "{boot_id}", boot, sizeof(boot));
	count(devices, &n, &n_usable);
	fprintf(t->f, "%s%s%s: ", sgr(t, colour), state, reset(t, colour));
	/* Two NICs with one RDMA device, that of their bond: then Expect= counts more than there
	 * are devices. */
	if (document_any(d, devices,
			 streq(document_get_text(d, "code"), reason_code(REASON_PORT_OF_LAG))))
		fprintf(t->f, "%zu NICs, ", json_array_size(devices));
	if (n > 0)
		fprintf(t->f, "%zu of %zu devices usable, ", n_usable, n);
	else
		fputs("nothing is handed out, ", t->f);
	if (n_reasons == 0)
		fputs("nothing to report", t->f);
	else
		draw_first(t, n_reasons);
	if (n_health > 0)
		fprintf(t->f, ", %zu health hint%s", n_health, n_health == 1 ? "" : "s");
	fprintf(t->f, *boot ? " (boot %s)\n" : "\n", boot);
}

static const struct sheet_row rows[] = {
	{ "Device plugin", "",
	  "[{plugin.type}|none][, {plugin.devices} [{?plugin.devices=1}device|devices], "
	  "{plugin.path} "
	  "[{?plugin.written}written|not written]]"
	  "[, {#plugin.left_out} left out: the plugin's file cannot select them]" },
	{ NULL, "plugin.resources", OUTPUT_PLUGIN_AMOUNT OUTPUT_PLUGIN_MIX },
	{ "Kubelet", "",
	  "[{!kubelet.source}none was found|topology policy [{kubelet.policy}|not known]"
	  "[, CPU policy {kubelet.cpu_policy}][, {kubelet.path}][:{+kubelet.line}]]"
	  "[, set since {kubelet.since}][{?kubelet.deferred}, at its next start]"
	  "[{?kubelet.policy}{!kubelet.policy=none}{!plugin.type=none}{!kubelet.hints}"
	  ", no NUMA hints from the device plugin]"
	  "[, {kubelet.code}[: {kubelet.detail}]]" },
	{ "QoS", "qos", "{pci}: " OUTPUT_QOS },
	{ "SMC-R", "smc", "[{!loaded}not loaded|{!pnetids}no PNETIDs]" },
	/* as "smc_pnet -s" prints it: PNETID, netdev, RDMA device, port */
	{ NULL, "smc.pnetids", "{pnetid} [{netdev}|n/a] [{ibdev} {port}|n/a 255]" },
	/* "..., Linux 6.12.48, degraded: set-num-vfs 0000:41:00.0 8 never-ended" */
	{ "Boots before", "boots",
	  "{@time}, Linux {kernel}, [{?state=starting}unfinished|{state}]"
	  "[: {*steps,; }{verb}[ {target}][ {to}] [{?outcome=never-ended}never ended|{outcome}]"
	  "[: {error}]{/}]" },
	{ "Node needs", "needs", "{pci}: [{?by_vf}by one of its VFs: ]{evidence}" },
};

static int draw_list(struct tree *t, const json_t *reasons)
{
	json_auto_t *groups = output_group(reasons);

	if (!groups)
		return -ENOMEM;
	document_each(reason, groups) {
		char text[SHEET_LINE_LEN];

		sheet_format(reason, "[{target}|node]", text, sizeof(text));
		fprintf(t->f, "\n%s%s%s", sgr(t, COLOUR_BOLD), text, reset(t, COLOUR_BOLD));
		sheet_format(reason, "  {code}", text, sizeof(text));
		fprintf(t->f, "%s\n", text);
		output_group_body(&t->sheet, reason);
	}
	return 0;
}

/* As "nvidia-smi topo -m" has it, between a GPU or NIC and another one; but the state has switches
 * of a GPU and a NIC alone. */
static const char *nearness(const json_t *a, const json_t *b)
{
	const json_t *gpu = json_object_get(a, "near_by") ? a : b;
	const char *pci = document_get_text(gpu == a ? b : a, "pci");

	if (a == b)
		return "X";
	if (streq(document_get_text(gpu, "near_by"), "switch") &&
	    document_any(nic, json_object_get(gpu, "nics"), streq(json_string_value(nic), pci)))
		return "PIX";
	return numa_of(a) < 0 || numa_of(b) < 0 ? "?" : numa_of(a) == numa_of(b) ? "NODE" : "SYS";
}

static int draw_topology(const struct tree *t)
{
	json_auto_t *all = json_array();
	char text[64];

	if (json_array_extend(all, json_object_get(t->state, "gpus")) < 0)
		json_array_clear(all); /* no GPU */
	if (json_array_extend(all, json_object_get(t->state, "devices")) < 0)
		return -EINVAL;
	fprintf(t->f, "%18s", "");
	document_each(a, all) {
		sheet_format(a, "[{ibdev}|{pci}]", text, sizeof(text));
		fprintf(t->f, "%-14s", text);
	}
	fputs("NUMA\n", t->f);
	document_each(a, all) {
		sheet_format(a, json_object_get(a, "near_by") ? "GPU {pci}" : "[{ibdev}|{pci}]",
			     text, sizeof(text));
		fprintf(t->f, "%-18s", text);
		document_each(b, all)
			fprintf(t->f, "%-14s", nearness(a, b));
		sheet_format(a, "[{numa_node}|?]\n", text, sizeof(text));
		fputs(text, t->f);
	}
	fputs("\nX itself, PIX a GPU and a NIC on the same PCIe switch, NODE on the same NUMA "
	      "node, SYS on another\n",
	      t->f);
	return 0;
}

static int draw(struct tree *t)
{
	const json_t *health = json_object_get(t->state, "health");
	int r = add_rows(t);

	if (r < 0)
		return r;

	measure(t);
	draw_head(t);
	draw_rows(t);
	if (t->view == TREE_ALL) {
		fputc('\n', t->f);
		sheet_fill_rows(&t->sheet, t->state, rows, ELEMENTSOF(rows));
	}
	t->sheet.label = "";
	t->sheet.width = 0;
	r = draw_list(t, json_object_get(t->state, "reasons"));
	if (r < 0 || t->view == TREE_PROBLEMS || json_array_size(health) == 0)
		return r;
	fputs("\nHealth: it works, and could do better\n", t->f);
	return draw_list(t, health);
}

int output_tree(const char *state_json, enum tree_view view, const struct screen *screen,
		char **ret)
{
	json_auto_t *state = NULL;
	_cleanup_(tree_done) struct tree t = { .screen = screen, .view = view };
	_cleanup_(freep) char *text = NULL;
	int r = document_parse(state_json, strlen(state_json), 0, &state, NULL);

	if (r < 0)
		return r;
	if (!json_is_object(state) || !json_is_string(json_object_get(state, "state")))
		return -EINVAL;

	t.state = state;
	r = sheet_open(&t.sheet, 0, LABEL_WIDTH);
	t.f = t.sheet.out.f;
	if (r >= 0)
		r = view == TREE_TOPOLOGY ? draw_topology(&t) : draw(&t);
	if (r >= 0)
		r = sheet_close(&t.sheet, &text);
	return r < 0 ? r : screen_fit(screen, text, ret);
}
